"""The plugin of pytest: marked tests, fixtures, artefacts, short tracebacks, and no cost where it is not used."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest_plugins = "pytester"

INSTALLED = any(each.name == "latchfree" for each in entry_points(group="pytest11"))
PLUGIN = () if INSTALLED else ("-p", "latchfree_lincheck.pytest_plugin")

COUNTERS = """
import asyncio
import pytest

class Racy:
    def __init__(self):
        self.value = 0

    async def add(self, n):
        before = self.value
        await asyncio.sleep(0)
        self.value = before + n
        return before

    async def read(self):
        return self.value

class Right(Racy):
    async def add(self, n):
        before = self.value
        self.value += n
        return before
"""


FORKING = """
import importlib.util, json, os, sys
import hypothesis, numba, pytest
import latchfree_lincheck.testing
if importlib.util.find_spec("greenlet"):
    import latchfree_explore.python.classes

for line in sys.stdin:
    folder, arguments = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        for number, name in ((0, os.devnull), (1, "stdout"), (2, "stderr")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        code = pytest.main(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""What pytest and the tests that it runs here need is loaded once; NumPy could not be loaded twice in one process."""


@pytest.fixture(scope="module")
def loaded():
    """A process that has loaded what tests need; each line that it reads, it forks to run pytest."""
    path = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=path
    ) as process:
        yield process


@pytest.fixture
def run(pytester, loaded):
    """Run pytest, with the plugin, on a file of tests, in a process of its own."""

    def run(test, *arguments):
        pytester.makepyfile(COUNTERS + test)
        loads = "ignore::pytest.PytestAssertRewriteWarning"  # plugins are loaded already
        given = [*PLUGIN, "--strict-markers", "-p", "no:cacheprovider", "--basetemp=run", "-W", loads, *arguments]
        print(json.dumps((str(pytester.path), given)), file=loaded.stdin, flush=True)
        code = int(loaded.stdout.readline())
        out, err = (pytester.path.joinpath(name).read_text().splitlines() for name in ("stdout", "stderr"))
        print(*out, *err, sep="\n")
        return pytest.RunResult(code, out, err, 0.0)

    return run


def text_of(result):
    return "\n".join(result.outlines)


def test_a_marked_test_is_judged(run):
    result = run(
        """
@pytest.fixture
def start():
    return 5

@pytest.mark.linearizable("counter", threads=2, operations=["add", "read"])
def test_racy():
    return Racy()

@pytest.mark.linearizable(model="counter", threads=2, programs=5, repeats=2)
def test_right():
    return Right()

@pytest.mark.linearizable("counter", programs=5, repeats=2)
def test_with_a_fixture(start):
    assert start == 5
    return Right()

@pytest.mark.linearizable("counter", programs=5, repeats=2)
async def test_coroutine(start):
    return Right()
""",
        "--latchfree-artifacts=art",
    )
    result.assert_outcomes(passed=3, failed=1)
    text = text_of(result)
    assert "violation: no order explains add(1)" in text
    assert "the program add(1) || add(1)" in text
    for frame in ("concurrent.py", "hypothesis/", "Traceback", "traceback", "pytest_plugin.py", "contextlib"):
        assert frame not in text, frame
    page = Path(re.search(r"^page: (.*)$", text, re.MULTILINE)[1])
    assert page.parent.name == "art"
    assert page.read_text().startswith("<!DOCTYPE html>")
    again = re.search(r"^again: latchfree check (\S+) --model counter$", text, re.MULTILINE)[1]
    assert Path(again).read_text().startswith('{"history"')


def test_a_marked_test_is_explored(run):
    pytest.importorskip("greenlet")
    result = run(
        """
class Threaded:
    def __init__(self):
        self.value = 0

    def add(self, n):
        before = self.value
        self.value = before + n
        return before

@pytest.mark.linearizable("counter", explore="free", threads=2, most_calls=1, programs=5, operations=["add"])
def test_free():
    return Threaded()

@pytest.mark.linearizable("counter", explore="gil", threads=2, most_calls=1, programs=5, operations=["add"])
def test_gil():
    return Threaded()
""",
        "--latchfree-artifacts=art",
    )
    result.assert_outcomes(passed=1, failed=1)
    text = text_of(result)
    assert "scenario: add(1) || add(1)" in text
    assert "fewest preemptions: 1" in text
    for frame in ("concurrent.py", "hypothesis/", "Traceback", "pytest_plugin.py"):
        assert frame not in text, frame
    page = Path(re.search(r"^page: (.*)$", text, re.MULTILINE)[1])
    assert "before = self.value" in page.read_text()


def test_fixtures_of_pytest_are_no_part_of_what_is_explored(run):
    pytest.importorskip("greenlet")
    result = run(
        """
from hypothesis import given, strategies

class Zero:
    def add(self, n):
        return 0

    def read(self):
        return 0

@given(strategies.integers())
def test_other(x):
    pass

@pytest.mark.linearizable("counter", explore="free", threads=2, programs=3, operations=["read"])
def test_fixtures(capsys, caplog, request, tmp_path, monkeypatch):
    assert request.node.name
    return Zero()
"""
    )
    result.assert_outcomes(passed=2)


def test_doctests_beside_marked_functions_run(run):
    result = run(
        '''
def two():
    """
    >>> 1 + 1
    2
    """

pytestmark = pytest.mark.linearizable("counter", programs=1, repeats=1)

def test_right():
    return Right()
''',
        "--doctest-modules",
    )
    result.assert_outcomes(passed=2)


@pytest.mark.slow
def test_what_the_object_raises_is_shown_without_our_frames(run):
    result = run("""
class Full:
    async def add(self, n):
        raise OverflowError("full")

@pytest.mark.linearizable("counter", operations=["add"])
def test_full():
    return Full()
""")
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert 'raise OverflowError("full")' in text
    for frame in ("concurrent.py", "tasks.py", "recorder.py", "pytest_plugin.py", "asyncio/", "contextlib.py"):
        assert frame not in text, frame


def test_the_fixtures_record_and_judge(run):
    result = run("""
def write_then_read(recorder, read):
    with recorder.call(0, "write", 1) as call:
        call.result = None
    with recorder.call(1, "read") as call:
        call.result = read

def test_right(recorder, linearizability):
    write_then_read(recorder, 1)
    linearizability(recorder, "register")

def test_stale(recorder, linearizability):
    write_then_read(recorder, None)
    linearizability(recorder, "register")

def test_nothing(recorder, linearizability):
    linearizability(recorder, "register")
""")
    result.assert_outcomes(passed=1, failed=2)
    text = text_of(result)
    assert (
        '>       linearizability(recorder, "register")' in text or '>   linearizability(recorder, "register")' in text
    )
    assert "NotLinearizable: violation: no order explains read()" in text
    assert "read() returned None, but the register held 1" in text
    assert "nothing was recorded, so nothing was judged" in text
    assert "pytest_plugin.py" not in text
    assert len(re.findall(r"^page: ", text, re.MULTILINE)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ('"counter", colour=1', "@pytest.mark.linearizable: .*unexpected keyword argument 'colour'"),
        ('"counter", threads=0', "@pytest.mark.linearizable: threads must be at least 1, got 0"),
        ('"heap"', "@pytest.mark.linearizable: no model is called 'heap'"),
        ('"counter"', "test_it returned None; a test marked linearizable returns the object"),
    ],
)
def test_a_wrong_marker_is_named(run, marker, message):
    result = run(f"""
@pytest.mark.linearizable({marker})
def test_it():
    pass
""")
    result.assert_outcomes(failed=1)
    assert re.search(message, text_of(result))


@pytest.mark.slow
def test_the_marker_is_refused_where_it_would_be_ignored(run):
    result = run("""
import unittest

class TestOld(unittest.TestCase):
    @pytest.mark.linearizable("counter")
    def test_it(self):
        return Racy()
""")
    assert "TestOld::test_it: @pytest.mark.linearizable is for functions, not for unittest.TestCase" in (
        "\n".join(result.errlines)
    )


@pytest.mark.slow
def test_methods_and_parameters(run):
    result = run("""
@pytest.mark.linearizable("counter", programs=3, repeats=2)
class TestCounters:
    @pytest.mark.parametrize("start", [0, 0])
    def test_it(self, start):
        made = Right()
        made.value = start
        return made
""")
    result.assert_outcomes(passed=2)


@pytest.mark.slow
def test_seeds_are_printed_and_used(run):
    test = """
@pytest.mark.linearizable("counter", threads=2)
def test_racy():
    return Racy()

@pytest.mark.linearizable("counter", threads=2, seed=3, programs=2)
def test_own():
    return Right()
"""
    result = run(test, "--latchfree-seed=7")
    result.assert_outcomes(passed=1, failed=1)
    assert "latchfree: --latchfree-seed=7" in text_of(result)
    assert re.search(r"^again: pytest --latchfree-seed=7 '.*::test_racy'$", text_of(result), re.MULTILINE)


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_hides_no_failure(run, pytester):
    pytester.path.joinpath("file").write_text("")
    result = run(
        """
@pytest.mark.linearizable("counter", threads=2)
def test_racy():
    return Racy()
""",
        "--latchfree-artifacts=file",
    )
    result.assert_outcomes(failed=1)
    assert "violation: no order explains" in text_of(result)
    assert re.search(r"^no page: .*File exists", text_of(result), re.MULTILINE)


@pytest.mark.slow
def test_other_failures_look_as_they_do_without_the_plugin(run, pytester):
    test = """
def helper():
    assert 1 == 2

def test_other():
    helper()
"""
    result = run(test)
    plain = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    cut = [[line for line in text.outlines if "E  " in line or ".py:" in line] for text in (result, plain)]
    assert cut[0] == cut[1] != []


def test_the_plugin_loads_nothing_heavy():
    code = (
        "import pytest, sys; import latchfree_lincheck.pytest_plugin; "
        "print(*sorted({'numpy', 'numba', 'hypothesis', 'pyarrow', 'latchfree'} & set(sys.modules)))"
    )
    path = {"PYTHONPATH": ":".join(sys.path)}
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=path, check=True)
    assert loaded.stdout.strip() == ""


def test_workers_of_xdist_report_pages(pytester):
    pytester.makepyfile(
        COUNTERS
        + """
@pytest.mark.linearizable("counter", threads=2)
def test_racy():
    return Racy()

@pytest.mark.linearizable("counter", threads=2)
def test_racy_too():
    return Racy()
"""
    )
    result = pytester.runpytest_subprocess(*PLUGIN, "-p", "xdist", "-n", "2", "--latchfree-artifacts=art")
    result.assert_outcomes(failed=2)
    pages = re.findall(r"^page: (.*)$", text_of(result), re.MULTILINE)
    assert len(set(pages)) == 2
    assert all(Path(page).exists() for page in pages)


def test_all_markers_of_a_test_are_judged_and_one_of_the_module_is_a_default(run):
    result = run(
        """
pytestmark = pytest.mark.linearizable("no such model")
CALLED = []

class Noting(Right):
    async def add(self, n):
        CALLED.append("add")
        return await super().add(n)

    async def read(self):
        CALLED.append("read")
        return await super().read()

@pytest.mark.linearizable("counter", threads=2, operations=["add"], programs=2, repeats=1)
@pytest.mark.linearizable("counter", threads=2, operations=["read"], programs=2, repeats=1)
def test_both():
    return Noting()

@pytest.mark.linearizable("counter", threads=2, operations=["add"])
@pytest.mark.linearizable("counter", threads=2, operations=["read"], programs=2, repeats=1)
def test_the_outer_one_fails():
    return Racy()

@pytest.mark.linearizable("counter", seconds=0)
@pytest.mark.linearizable("counter", programs=1, repeats=1)
def test_nothing_would_be_tried():
    return Right()

@pytest.mark.linearizable("counter", programs=1, repeats=1)
def test_called():
    assert {*CALLED} == {"add", "read"}
    return Right()
""",
        "-rf",
    )
    result.assert_outcomes(passed=2, failed=2)
    assert "@pytest.mark.linearizable: seconds must be above 0, got 0; fix: seconds=1" in text_of(result)
