"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

from . import examples
from . import weak
from .api import explore
from .failure import Failure
from .python.aio.program import outside_event
from .python.asynchronous import explore_async
from .python.classes import explore_object
from .python.exploring import explore_threads
from .python.rewriting.instrument import CannotControl
from .python.result import ExplorationFailed
from .python.replays import replay_python
from .python.result import PythonExploration
from .python.core.run import Diverged
from .replay_files import replay
from .result import Exploration
from .scenario import Invocation, Scenario
from .target import Memory, Operation, Target

__all__ = [
    "CannotControl",
    "Diverged",
    "Exploration",
    "ExplorationFailed",
    "Failure",
    "Invocation",
    "Memory",
    "Operation",
    "PythonExploration",
    "Scenario",
    "Target",
    "examples",
    "explore",
    "explore_async",
    "explore_object",
    "explore_threads",
    "outside_event",
    "replay",
    "replay_python",
    "weak",
]
