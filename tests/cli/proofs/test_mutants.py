"""``latchfree mutants``: the matrix, and what counts as caught. Each mutant runs in a fresh process."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_processes import interrupt
from typer.testing import CliRunner

import latchfree_evidence.mutants
from latchfree_cli import exits, mutant_runs
from latchfree_cli.app import app
from latchfree_cli.commands import mutants
from latchfree_cli.mutant_runs import LayerName
from latchfree_cli.settings import Settings
from latchfree_cli.specs import runs

DATA = Path(__file__).parents[2] / "model" / "data"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written, on a manifest with one mutant, C1."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runs, "spec_dir", lambda: DATA)


def only(monkeypatch: pytest.MonkeyPatch, **options: dict[str, object]) -> None:
    """Pretend that these are all the mutants of the code, each with its options for stress."""
    mutants = {name: SimpleNamespace(stress=stress, explore=None, frees=False) for name, stress in options.items()}
    monkeypatch.setattr(latchfree_evidence.mutants, "MUTANTS", mutants)


def fake(monkeypatch: pytest.MonkeyPatch, code: int, stdout: str) -> list[list[str]]:
    """Pretend that runs end like this; return the arguments they are given."""
    seen = []

    def run(arguments: list[str], limit: float, settings: Settings) -> tuple[int, str, str]:
        seen.append(arguments)
        return code, stdout, ""

    monkeypatch.setattr(mutant_runs, "run_command", run)
    return seen


def test_stress_has_nothing_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside busy processes its threads change too rarely."""
    ended: list[str] = []
    together = threading.Barrier(2, timeout=60)

    def show(layer: str) -> list[mutant_runs.Cell]:
        if layer != "stress":
            together.wait()
        ended.append(layer)
        return []

    monkeypatch.setattr(mutants, "code_cells", lambda layer, *_: show(str(layer)))
    monkeypatch.setattr(mutants, "spec_cells", lambda *_: show("spec"))
    mutants._in_lanes(list(LayerName), Settings(seed=1), lambda _: None)
    assert (set(ended[:2]), ended[2:]) == ({"spec", "explore"}, ["stress"])


def test_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, W2={"shape": "list", "memory": "jittered"})
    result = CliRunner().invoke(app, ["mutants", "--seed", "1"])
    assert result.exit_code == exits.OK, result.output
    rows = [[cell.split("(")[0].strip() for cell in line.split("│")[1:-1]] for line in result.stdout.splitlines()]
    assert [row for row in rows if row] == [
        ["C1", "caught", "-", "-"],
        ["W2", "not applicable", "not applicable", "caught"],
    ]
    assert result.stdout.splitlines()[0] == "mutants: seed 1"
    assert result.stdout.splitlines()[-1] == "2 of 2 caught"


def test_every_mutant_of_the_code_has_a_cell_in_each_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = fake(monkeypatch, 1, '{"verdict": "violation", "reason": "r"}')
    result = CliRunner().invoke(app, ["mutants", "--seed", "1", "--json"])
    assert result.exit_code == exits.OK, result.output
    cells = {(cell["mutant"], cell["layer"]): cell for cell in json.loads(result.stdout)["mutants"]}
    assert len(cells) == 3 * len(latchfree_evidence.mutants.MUTANTS)
    ran = [cell for cell in cells.values() if cell["status"] == "caught"]
    assert len(ran) == len(seen) + 1
    assert cells["S1", "explore"]["reproduce"].startswith("latchfree explore ctrie --mutant S1 --scenario 'init: put")
    assert cells["W4", "stress"]["reproduce"].endswith("--shape pairs --threads 6 --keys 24 --seed 1")
    assert cells["W4", "spec"]["status"] == "-"
    assert cells["C1", "stress"]["status"] == "caught"
    assert cells["R4", "stress"]["reproduce"].startswith("latchfree stress ctrie --mutant R4 --memory poisoned")
    assert cells["R4", "explore"]["status"] == "not applicable"
    assert cells["Q1", "stress"]["status"] == "not applicable"
    assert cells["T1", "explore"]["status"] == cells["T1", "spec"]["status"] == "not applicable"
    assert all(cell["detail"] for cell in cells.values())


def test_a_mutant_that_is_missed_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two operations cannot show any mutant to be wrong."""
    only(monkeypatch, W2={"operations": 2, "threads": 2, "memory": "jittered"})
    result = CliRunner().invoke(app, ["mutants", "--layer", "stress", "--seed", "1"])
    assert result.exit_code == exits.VIOLATION
    assert "MISSED" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("latchfree stress ctrie --mutant W2 --operations 2")


def test_a_mutant_that_does_not_run_is_no_catch(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, Z9={})
    result = CliRunner().invoke(app, ["mutants", "--layer", "stress", "--json"])
    assert result.exit_code == exits.TOOL
    (cell,) = json.loads(result.stdout)["mutants"]
    assert cell["status"] == "failed"
    assert "unknown mutant 'Z9'" in cell["detail"]


@pytest.mark.parametrize(
    ("code", "stdout", "status"),
    [
        (1, '{"verdict": "violation", "reason": "r"}', "caught"),
        (1, "Traceback", "failed"),
        (0, '{"verdict": "ok", "operations": 5}', "MISSED"),
        (3, '{"verdict": "unknown", "reason": "timeout"}', "unknown"),
        (70, '{"verdict": null, "error": "e"}', "failed"),
        (-9, "", "failed"),
    ],
)
def test_what_counts_as_caught(monkeypatch: pytest.MonkeyPatch, code: int, stdout: str, status: str) -> None:
    fake(monkeypatch, code, stdout)
    assert mutant_runs.run_mutant("S1", LayerName.stress, {"shape": "tree"}, Settings(seed=1)).status == status


def test_a_run_that_takes_too_long_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutant_runs, "GRACE", 0.0)
    cell = mutant_runs.run_mutant("S1", LayerName.stress, {}, Settings(seed=1, timeout=0.001))
    assert (cell.status, cell.detail) == ("unknown", "stopped after 0.001 s")


def test_no_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch)
    assert CliRunner().invoke(app, ["mutants", "--layer", "stress"]).exit_code == exits.NOTHING


def test_interrupt() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "latchfree_cli", "mutants", "--layer", "stress"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as run:
        assert run.stdout is not None
        assert run.stdout.readline().startswith("mutants: seed ")
        _, stderr = interrupt(run)
    assert run.returncode == exits.INTERRUPTED
    assert stderr.endswith("latchfree: interrupted\n")


def test_the_list_has_one_line_for_each_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    result = CliRunner().invoke(app, ["mutants", "--list"])
    assert result.exit_code == exits.OK
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    specified = {model.mutant for model in runs.read_manifest() if model.mutant}
    assert set(lines) == set(latchfree_evidence.mutants.MUTANTS) | specified
    assert len(result.stdout.splitlines()) == len(lines)
    said = latchfree_evidence.mutants.MUTANTS["S1"].summary
    assert lines["S1"] == f"S1    spec, explore, stress  Scala 2.12 and 2.13, Workiva  {said}"


def test_the_list_of_a_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    result = CliRunner().invoke(app, ["mutants", "--list", "--layer", "stress", "--json"])
    entries = {entry["id"]: entry for entry in json.loads(result.stdout)["mutants"]}
    assert {"S1", "C3", "T1"} <= set(entries)
    assert not {"Q1", "P1"} & set(entries)
    assert entries["T1"] == {
        "id": "T1",
        "layers": ["stress"],
        "published": None,
        "summary": latchfree_evidence.mutants.MUTANTS["T1"].summary,
    }


def test_systematic_mutants_are_listed_with_their_differences() -> None:
    result = CliRunner().invoke(app, ["mutants", "--systematic", "--list", "--diff", "--only", "parking"])
    assert result.exit_code == exits.OK, result.output
    assert "streams/kernels/parking.py arm: fetch_or without write" in result.stdout
    assert "+    return load(mem, word) | ASLEEP" in result.stdout


def test_a_file_without_kernels_is_named() -> None:
    result = CliRunner().invoke(app, ["mutants", "--systematic", "--list", "--only", "nowhere"])
    assert result.exit_code == exits.USAGE
    assert "nowhere" in result.output


@pytest.mark.parametrize("option", ["--sample", "--jobs"])
def test_options_of_systematic_mutants_need_it(option: str) -> None:
    result = CliRunner().invoke(app, ["mutants", "--list", option, "3"])
    assert result.exit_code == exits.USAGE
    assert "--systematic" in result.output


def test_a_sample_is_judged_and_recorded(tmp_path: Path) -> None:
    arguments = ["mutants", "--systematic", "--only", "positions", "--sample", "4", "--seed", "2", "--jobs", "2"]
    result = CliRunner().invoke(app, [*arguments, "--json"])
    document = json.loads(result.stdout)
    assert len(document["mutants"]) == 4
    record = json.loads((tmp_path / "out" / "systematic-mutants.json").read_text())
    assert set(record["mutants"]) == set(document["mutants"])
    assert all(verdict["layer"] for verdict in record["mutants"].values())
