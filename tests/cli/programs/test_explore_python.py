"""``latchfree explore MODULE:CLASS`` and its replays: verdicts, files, exit codes."""

import json
import signal
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_cli.exploring.classes import names_a_class

pytest.importorskip("greenlet")

MAP = """
class Map:
    def __init__(self):
        self.items = {}

    def put(self, key, value):
        old = self.items.get(key)
        self.items[key] = value
        return old

    def get(self, key):
        return self.items.get(key)

import asyncio

class Tasks(Map):
    async def put(self, key, value):
        old = self.items.get(key)
        await asyncio.sleep(0)
        self.items[key] = value
        return old

async def main():
    lock = asyncio.Lock()
    async def holds():
        await lock.acquire()
        await asyncio.sleep(1)
        lock.release()
    await asyncio.wait([asyncio.create_task(holds()) for _ in range(2)])
"""


@pytest.fixture(autouse=True)
def in_a_folder_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "explored_map", raising=False)
    Path("explored_map.py").write_text(MAP)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout


def test_a_class_is_explored_in_both_models_and_its_failure_replayed() -> None:
    code, text = run("explore", "explored_map:Map", "--model", "map", "--scenario", "put(0, 1) | put(0, 2)")
    assert code == exits.VIOLATION
    assert "free: threads change at any access" in text
    assert "gil: threads change only where this interpreter polls" in text
    assert text.splitlines()[-1] == "latchfree replay out/explore-explored_map.Map-free.json"
    code, text = run("replay", "out/explore-explored_map.Map-free.json")
    assert code == exits.VIOLATION
    assert "fewest preemptions: 1" in text


def test_the_calls_may_be_given_as_a_script() -> None:
    code, text = run("explore", "explored_map:Map", "--switches", "free", "--script", "put(0,1) | put(0,2)")
    assert code == exits.VIOLATION
    assert "scenario: put(0, 1) | put(0, 2)" in text
    given = ["explore", "explored_map:Map", "--script", "get(0)", "--scenario", "get(0)"]
    assert CliRunner().invoke(app, given).exit_code == exits.USAGE


def test_without_calls_all_small_programs_are_explored() -> None:
    code, text = run("explore", "explored_map:Map", "--model", "map", "--switches", "free")
    assert code == exits.VIOLATION
    assert "scenario: put(1, 2) | put(1, 2)" in text
    assert "programs" in text
    code, text = run("explore", "explored_map:Map", "--switches", "gil", "--timeout", "0.001", "--json")
    assert code == exits.INCONCLUSIVE
    assert json.loads(text)["results"][0]["verdict"] == "unknown"


@pytest.mark.parametrize(
    "given",
    [
        ["explored_map:Tasks", "--scenario", "put(0, 1) | put(0, 2)"],
        ["explored_map:main", "--cancels", "1"],
    ],
)
def test_coroutines_are_explored_replayed_shown_and_played(given: list[str]) -> None:
    code, text = run("explore", *given, "--switches", "free")
    assert code == exits.VIOLATION
    file = text.split()[-1]
    reason = text.splitlines()[0].partition(": violation: ")[2]
    code, text = run("replay", file)
    assert code == exits.VIOLATION
    assert text.splitlines()[0] == f"replay {file}: violation: {reason}"
    assert run("show", file, "-o", "page.html")[0] == exits.VIOLATION
    code, text = run("play", file, "-o", "played.html")
    assert code == exits.OK
    assert "par is " in text
    assert run("play", *given, "-o", "played.html")[0] == exits.OK
    assert CliRunner().invoke(app, ["play", file, "--cancels", "1"]).exit_code == exits.USAGE


def test_a_failure_is_drawn_as_a_page_and_debugged() -> None:
    run("explore", "explored_map:Map", "--switches", "free", "--scenario", "put(0, 1) | put(0, 2)")
    file = "out/explore-explored_map.Map-free.json"
    code, text = run("show", file, "-o", "page.html", "--json")
    assert code == exits.VIOLATION
    assert json.loads(text)["page"] == "page.html"
    assert "old = self.items.get(key)" in Path("page.html").read_text()
    handler = signal.getsignal(signal.SIGINT)
    result = CliRunner().invoke(app, ["replay", file, "--pdb", "1"], input="p key\nc\n")
    assert result.exit_code == exits.VIOLATION
    assert signal.getsignal(signal.SIGINT) is handler, "the debugger left its own behind"
    assert "step 1 of thread " in result.stdout
    for arguments, says in (
        (["show", file, file], "give one file"),
        (["replay", file, "--pdb", "99"], "there is no step 99"),
        (["replay", file, "--pdb", "0", "--json"], "leave out one of the two"),
    ):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == exits.USAGE
        assert says in result.stderr
    Path("explored_map.py").write_text(MAP.replace("old = self.items.get(key)", "old = None"))
    sys.modules.pop("explored_map")
    result = CliRunner().invoke(app, ["show", file])
    assert result.exit_code == exits.INCONCLUSIVE
    assert "when the file was written" in result.stdout


def test_a_class_that_holds() -> None:
    code, text = run("explore", "explored_map:Map", "--switches", "free", "--scenario", "put(0, 1) | get(0)", "--json")
    assert code == exits.OK
    document = json.loads(text)
    assert document["verdict"] == "ok"
    assert document["results"][0]["complete"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["explored_map:Map", "--cancels", "1"], "cancels is for calls that are coroutines"),
        (["explored_map:main", "--model", "map"], "a coroutine function is run as it is"),
        (["explored_map:Mop", "--scenario", "get(0)"], "has no 'Mop'"),
        (["no_such_module_here:Map", "--scenario", "get(0)"], "no module 'no_such_module_here'"),
        (["explored_map:Map", "--scenario", "pop(0)"], "has no operation 'pop'"),
        (["explored_map:Map", "--scenario", "get(0)", "--plain"], "takes --scenario"),
        (["ctrie", "--model", "map"], "are for plain Python"),
        (["explored_map.py:Map"], "a class in plain Python is explored_map:Map"),
        (["explored_map.py"], "a class in plain Python is explored_map:Map"),
        (["explored_map:Map", "--scenario", ""], "scenario: expected an operation"),
        (["explored_map:Map", "--scenario", "remove(1)"], "fix: explore_object(..., methods={'remove'"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(arguments: list[str], says: str) -> None:
    result = CliRunner().invoke(app, ["explore", *arguments])
    assert result.exit_code == exits.USAGE
    assert says in result.stderr


PRINTS = """
import sys
print("imported")
class Prints:
    def read(self):
        print("called")
        return 0
class NeedsMore(Prints):
    def __init__(self, size): pass
class Leaves(Prints):
    def read(self):
        sys.exit(0)
"""


@pytest.fixture
def prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "explored_prints", raising=False)
    Path("explored_prints.py").write_text(PRINTS)


def test_what_is_explored_prints_nothing_into_the_answer(prints: None) -> None:
    code, text = run("explore", "explored_prints:Prints", "--model", "counter", "--scenario", "read()", "--json")
    assert code == exits.OK
    assert json.loads(text)["verdict"] == "ok"
    code, text = run("play", "explored_prints:Prints", "--model", "counter", "--scenario", "read()", "--json")
    assert code == exits.OK
    assert json.loads(text)["states"] > 1


def test_errors_of_the_class_are_told_in_a_line(prints: None) -> None:
    given = ["--model", "counter", "--scenario", "read()"]
    for command in ("explore", "play"):
        result = CliRunner().invoke(app, [command, "explored_prints:NeedsMore", *given])
        assert result.exit_code == exits.USAGE
        assert "NeedsMore() raised TypeError" in result.stderr
        assert "fix: give a function that makes one with its arguments" in result.stderr
    code, text = run("explore", "explored_prints:Leaves", *given)
    assert code == exits.VIOLATION
    assert "read raised SystemExit(0)" in text
    Path("explored_broken.py").write_text("import sys; sys.exit(0)")
    result = CliRunner().invoke(app, ["explore", "explored_broken:C", *given])
    assert result.exit_code == exits.USAGE
    assert "importing explored_broken failed: SystemExit: 0" in result.stderr


STRANGE = """
import functools, os, pytest
class Élan:
    def read(self): return 0
class Huge:
    def __init__(self): self.n = 0
    def add(self, k):
        self.n += k
        return 10**5000
class Unlike:
    def __eq__(self, other): raise ValueError("not comparable")
    __hash__ = None
class Incomparable(Élan):
    def read(self): return Unlike()
def fails(): raise LookupError("no such thing\\nat all")
def needs(size): return Élan()
def skips(): pytest.skip("not today")
def leaves(): raise SystemExit(4)
def __getattr__(name):
    if name == "Odd":
        raise GeneratorExit("odd")
    raise AttributeError(name)
"""


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("Élan", exits.OK, ""),
        ("Huge", exits.VIOLATION, ""),
        (
            "Incomparable",
            exits.TOOL,
            "the result of read() cannot be judged: ValueError: not comparable; fix: methods=",
        ),
        ("fails", exits.USAGE, "fails() raised LookupError: no such thing at all"),
        ("needs", exits.USAGE, "fix: give a function that makes one with its arguments"),
        ("skips", exits.USAGE, "skips() raised Skipped: not today"),
        ("leaves", exits.USAGE, "leaves() raised SystemExit: 4"),
        ("Odd", exits.USAGE, "looking up 'Odd' raised GeneratorExit: odd"),
    ],
)
def test_errors_of_the_program_are_told_in_a_line(
    name: str, code: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "explored_strange", raising=False)
    Path("explored_strange.py").write_text(STRANGE)
    calls = "add(1) | add(1)" if name == "Huge" else "read() | read()"
    result = CliRunner().invoke(app, ["explore", f"explored_strange:{name}", "--model", "counter", "--scenario", calls])
    assert result.exit_code == code
    assert says in result.stderr
    assert len(result.stderr.splitlines()) <= 1


@pytest.mark.parametrize("text", ["import pytest; pytest.skip('now', allow_module_level=True)", "raise GeneratorExit"])
def test_whatever_an_import_raises_is_a_usage_error(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "explored_raises", raising=False)
    Path("explored_raises.py").write_text(text)
    result = CliRunner().invoke(app, ["explore", "explored_raises:Map"])
    assert result.exit_code == exits.USAGE
    assert "importing explored_raises failed: " in result.stderr


LOGS = """
import logging, sys
HANDLER = logging.StreamHandler()
class Logs:
    def __init__(self): self.n = 0
    def add(self, k):
        logging.getLogger("lf-explored").warning("adds")
        old = self.n
        self.n = old + k
        return old
"""


@pytest.mark.parametrize("more", ["", "sys.stderr = None\n", "sys.stdout = None\n"])
def test_what_is_explored_says_nothing_on_standard_error(more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "explored_logs", raising=False)
    Path("explored_logs.py").write_text(LOGS + more)
    given = ["explored_logs:Logs", "--model", "counter", "--switches", "free", "--scenario", "add(1) | add(1)"]
    result = CliRunner().invoke(app, ["explore", *given])
    assert result.exit_code == exits.VIOLATION
    assert result.stderr == ""
    assert CliRunner().invoke(app, ["play", *given]).stderr == ""
    monkeypatch.delitem(sys.modules, "explored_logs")
    result = CliRunner().invoke(app, ["replay", "out/explore-explored_logs.Logs-free.json"])
    assert result.exit_code == exits.VIOLATION


def test_a_module_that_goes_elsewhere_takes_no_file_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "explored_leaves", raising=False)
    (tmp_path / "elsewhere").mkdir()
    Path("explored_leaves.py").write_text("import os\nos.chdir('elsewhere')\n" + MAP)
    code, text = run("explore", "explored_leaves:Map", "--switches", "free", "--scenario", "put(0, 1) | put(0, 2)")
    assert code == exits.VIOLATION
    assert (tmp_path / "out" / "explore-explored_leaves.Map-free.json").exists()
    assert str(tmp_path / "out") in text


def test_a_file_that_is_not_written_is_not_replayed() -> None:
    Path("out").write_text("a file")
    code, text = run("explore", "explored_map:Map", "--switches", "free", "--scenario", "put(0, 1) | put(0, 2)")
    assert code == exits.VIOLATION
    assert "latchfree replay" not in text


def test_a_play_page_opens_at_threads_that_are_there() -> None:
    run("explore", "explored_map:Map", "--switches", "free", "--scenario", "put(0, 1) | put(0, 2)")
    path = Path("out/explore-explored_map.Map-free.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "choices": [[99, 1]]}))
    result = CliRunner().invoke(app, ["play", str(path)])
    assert result.exit_code == exits.USAGE
    assert f"{path}: opened: there is no thread 99" in result.stderr


def test_pdb_needs_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    run("explore", "explored_map:Map", "--switches", "free", "--scenario", "put(0, 1) | put(0, 2)")
    monkeypatch.setattr("latchfree_cli.exploring.classes._asks", lambda: False)
    result = CliRunner().invoke(app, ["replay", "out/explore-explored_map.Map-free.json", "--pdb", "1"])
    assert result.exit_code == exits.USAGE
    assert "--pdb asks on standard input, which is closed" in result.stderr


def test_which_targets_are_classes() -> None:
    assert names_a_class("cache:Cache")
    assert names_a_class("package.module:Outer.Inner")
    assert not names_a_class("my_counter.py:COUNTER")
    assert not names_a_class("folder/file.py:NAME")
    assert not names_a_class("ctrie")


def test_where_nothing_is_wrong_in_free_nothing_is_in_gil() -> None:
    code, text = run("--json", "explore", "explored_map:Map", "--scenario", "put(0, 1) | get(1)")
    free, gil = json.loads(text)["results"]
    assert code == exits.OK
    assert (free["switches"], free["verdict"], free["complete"]) == ("free", "ok", True)
    assert (gil["switches"], gil["verdict"], gil["schedules"]) == ("gil", "ok", 0)
    assert "among those of free" in gil["reason"]


def test_a_play_page_of_a_class_and_of_its_replay() -> None:
    given = ["--scenario", "put(0, 1) | put(0, 2)"]
    code, text = run("play", "explored_map:Map", *given, "-o", "page.html")
    assert code == exits.OK
    assert "play explored_map:Map: " in text
    assert "par is 2 changes of threads" in text
    assert Path("page.html").read_text().startswith("<!DOCTYPE html>")
    code, text = run("play", "explored_map:Map", *given, "--switches", "gil", "--within", "0", "-o", "page.html")
    assert "those up to 0 changes of threads; no schedule on it fails" in text
    run("explore", "explored_map:Map", *given, "--switches", "free")
    code, text = run("play", "out/explore-explored_map.Map-free.json")
    assert code == exits.OK
    page = Path("out/play-explore-explored_map.Map-free.html").read_text()
    opened = json.loads(page.partition('id="data">')[2].partition("</script>")[0])["open"]
    assert opened == [thread for thread in opened if thread in (0, 1)]
    assert len(set(opened)) == 2


@pytest.mark.parametrize(
    "given",
    [
        ["explored_map:Map"],
        ["explored_map:Map", "--scenario", "get(0)", "--serve"],
        ["nowhere:Map", "--scenario", "get(0)"],
        ["out/none.json"],
        ["S1", "--switches", "free"],
    ],
)
def test_what_makes_no_play_page_is_a_wrong_use(given: list[str]) -> None:
    assert CliRunner().invoke(app, ["play", *given]).exit_code == exits.USAGE


def test_a_module_may_keep_the_standard_output_that_it_saw_when_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("explored_loud.py").write_text(
        "import sys, logging, threading\n"
        "OUT = sys.stdout\n"
        "class Map:\n"
        "    def __init__(self):\n"
        "        self.items, self.lock = {}, threading.Lock()\n"
        "    def put(self, key, value):\n"
        "        with self.lock:\n"
        "            OUT.write('put')\n"
        "            old = self.items.get(key)\n"
        "            self.items[key] = value\n"
        "            return old\n"
    )
    monkeypatch.delitem(sys.modules, "explored_loud", raising=False)
    for _ in range(2):
        code, text = run("explore", "explored_loud:Map", "--model", "map", "--scenario", "put(0, 1) | put(0, 2)")
        assert (code, "nothing wrong" in text) == (exits.OK, True)


def test_a_target_that_cannot_be_called_is_a_mistake_of_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "explored_arity", raising=False)
    Path("explored_arity.py").write_text(
        "async def co(x):\n    return x\n\nclass Cache:\n    def put(self, key, value, seconds):\n        pass\n"
    )
    for target, says in (
        ("co", "missing a required argument: 'x'"),
        ("Cache", "missing a required argument: 'seconds'"),
    ):
        result = CliRunner().invoke(app, ["explore", f"explored_arity:{target}"])
        assert (result.exit_code, says in result.output) == (exits.USAGE, True), result.output
