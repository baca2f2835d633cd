"""The plugin of pytest: a marker, two fixtures, and the page of a history that failed.

It is loaded by every run of pytest where latchfree is installed, so it imports nothing at the start: neither NumPy, nor
numba, nor Hypothesis. A run that uses none of it does nothing more than look into `sys.modules` when a test fails.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from latchfree_lincheck.history import History
    from latchfree_lincheck.history.recorder import Recorder
    from latchfree_model import Model

MARKER: Final = "linearizable"
SEED: Final = "latchfree_seed"
ARTIFACTS: Final = "latchfree_artifacts"

_OURS: Final = str(Path(__file__).resolve().parent)
_RUNNERS: Final = frozenset({"_pytest", "pluggy", "hypothesis"})
_BETWEEN: Final = (str(Path(contextlib.__file__).parent / "asyncio"), contextlib.__file__)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("latchfree", "linearizability of concurrent objects")
    group.addoption(
        "--latchfree-artifacts",
        dest=ARTIFACTS,
        metavar="DIR",
        help="Folder for the pages of histories that fail, else a temporary one.",
    )
    group.addoption(
        "--latchfree-seed",
        dest=SEED,
        type=int,
        metavar="N",
        help="Draw other programs, and interleavings, for tests marked linearizable without a seed of their own.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(model, **options): the test returns an object; run generated concurrent programs on it and judge "
        "them, as latchfree_lincheck.linearizable does with the same options",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse the marker where pytest does not call the test, so that nothing would be judged.

    What is no function, as a doctest, may stand in a module whose functions are all marked.
    """
    for item in items:
        inherited = not isinstance(item, pytest.Function) and all(each.name != MARKER for each in item.own_markers)
        if item.get_closest_marker(MARKER) is not None and not inherited and not _called_by_pytest(item):
            raise pytest.UsageError(f"{item.nodeid}: @pytest.mark.{MARKER} is for functions, not for unittest.TestCase")


def _called_by_pytest(item: pytest.Item) -> bool:
    loaded = sys.modules.get("unittest")
    cases = () if loaded is None else (loaded.TestCase,)
    return isinstance(item, pytest.Function) and not (item.cls is not None and issubclass(item.cls, cases))


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return the seed, if one was given."""
    seed = config.getoption(SEED)
    return None if seed is None else f"latchfree: --latchfree-seed={seed}"


@pytest.fixture
def recorder() -> Recorder:
    """Return a recorder of calls, for `linearizability` to judge."""
    from latchfree_lincheck.history.recorder import Recorder

    return Recorder()


@pytest.fixture
def linearizability(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Return a function that fails the test unless what was recorded keeps its promise."""

    def linearizability(
        recorded: Recorder | History, model: str | Model[Any] = "map", *, criterion: str = "linearizability",
        timeout: float | None = None,
    ) -> None:  # fmt: skip
        __tracebackhide__ = True
        from latchfree_lincheck.criteria import judge
        from latchfree_lincheck.failures import NotLinearizable
        from latchfree_lincheck.history import History
        from latchfree_model import get_model

        chosen = get_model(model) if isinstance(model, str) else model
        history = recorded if isinstance(recorded, History) else recorded.history(request.node.name, chosen.name)
        if not len(history):
            raise AssertionError("nothing was recorded, so nothing was judged")
        verdict = judge(history, chosen, criterion=criterion, timeout=timeout)
        if verdict.verdict != "ok":
            raise NotLinearizable(history, verdict, chosen, criterion=criterion)

    return linearizability


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a marked test: generated programs on the objects that the test makes."""
    __tracebackhide__ = True
    markers = [each for each in pyfuncitem.own_markers if each.name == MARKER]
    closest = pyfuncitem.get_closest_marker(MARKER)
    if closest is None:
        return None
    from latchfree_lincheck.testing import linearizable

    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    tests: list[Callable[[], None]] = []
    for marker in markers or [closest]:  # those of a function are run all; one of a class or a module is a default
        options = dict(marker.kwargs)
        if pyfuncitem.config.getoption(SEED) is not None:
            options.setdefault("seed", pyfuncitem.config.getoption(SEED))
        try:
            tests.append(linearizable(*marker.args, **options)(_maker(pyfuncitem.obj, given)))
        except (TypeError, ValueError) as error:
            pytest.fail(f"@pytest.mark.{MARKER}: {error}", pytrace=False)
    for test in tests:
        test()
    return True


def _maker(function: Callable[..., Any], given: dict[str, Any]) -> Callable[[], Any]:
    """Return what makes the object: the test, with its fixtures."""
    if inspect.iscoroutinefunction(function):
        return functools.partial(function, **given)

    @functools.wraps(function)
    def make() -> Any:
        made = function(**given)
        if made is None:
            pytest.fail(f"{function.__name__} returned None; a test marked {MARKER} returns the object", pytrace=False)
        return made

    return make


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Leave our frames out of the traceback of a failure, and add the page of its history to the report."""
    bare = False
    if call.excinfo is not None and "latchfree_lincheck.history" in sys.modules:
        bare = _without_our_frames(call.excinfo)
    report = yield
    error = None if call.excinfo is None else call.excinfo.value
    if error is not None and report.failed and _has_a_page(error):
        if bare:
            report.longrepr = str(error)
        report.sections.append(("latchfree", "\n".join(_artefacts(item, error))))
    return report


def _has_a_page(error: BaseException) -> bool:
    """Return whether an error is one of ours that can be drawn: a history, or an explored schedule."""
    failures = sys.modules.get("latchfree_lincheck.failures")
    recorded = failures is not None and isinstance(error, failures.NotLinearizable)
    return recorded or callable(getattr(getattr(error, "result", None), "page", None))


def _without_our_frames(excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
    """Leave out our frames, and those of the library between them; return whether none of the test's is left."""
    if not any(str(entry.path).startswith(_OURS) for entry in excinfo.traceback):
        return False
    left = [entry for entry in excinfo.traceback if not str(entry.path).startswith((_OURS, *_BETWEEN))]
    theirs = [
        entry for entry in left if not entry.ishidden(excinfo) and _RUNNERS.isdisjoint(Path(str(entry.path)).parts)
    ]
    if theirs:
        excinfo.traceback = type(excinfo.traceback)(left)
    return not theirs


def _artefacts(item: pytest.Item, error: Any) -> list[str]:
    """Save the page of a history, and the history, or the page of a schedule; return lines that say where they are."""
    from latchfree_lincheck.pytest_artefacts import drawn, saved

    seed = item.config.getoption(SEED)
    lines = [] if seed is None else [f"again: pytest --latchfree-seed={seed} {item.nodeid!r}"]
    folder = item.config.getoption(ARTIFACTS)
    if folder is None:
        temporary = getattr(item.config, "_tmp_path_factory", None)  # absent if the plugin of tmp_path is
        folder = temporary.mktemp("latchfree") if temporary is not None else tempfile.mkdtemp(prefix="latchfree-")
    save = drawn if hasattr(error, "result") else saved
    return [*save(Path(folder), item.nodeid, error), *lines]
