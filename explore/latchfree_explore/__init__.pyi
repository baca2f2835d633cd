"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

from . import examples
from .api import explore
from .failure import Failure
from .replay_files import replay
from .result import Exploration
from .scenario import Invocation, Scenario
from .target import Memory, Operation, Target

__all__ = [
    "Exploration",
    "Failure",
    "Invocation",
    "Memory",
    "Operation",
    "Scenario",
    "Target",
    "examples",
    "explore",
    "replay",
]
