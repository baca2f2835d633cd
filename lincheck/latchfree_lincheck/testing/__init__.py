"""Test concurrent classes with Hypothesis: generated programs, shrunk when they fail.

`linearizable` runs concurrent programs, on real threads or as tasks on an event loop, and judges the recorded
histories; `stateful` runs sequential ones and compares every result with the model. This package
needs hypothesis: ``pip install 'latchfree[check]'``.
"""

try:
    import hypothesis  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "latchfree_lincheck.testing needs hypothesis; fix: pip install 'latchfree[check]'", name="hypothesis"
    ) from error

from latchfree_lincheck.failures import NotLinearizable
from latchfree_lincheck.testing.concurrent import linearizable
from latchfree_lincheck.testing.sequential import stateful

__all__ = ["NotLinearizable", "linearizable", "stateful"]
