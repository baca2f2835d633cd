"""Other criteria, and models of the user's own: the verdicts are those of the library."""

import json
import sys
import zipfile

import pytest
from lincheck_random import random_history
from pipeline_jobs import fragments, run, verdicts
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_lincheck import History, Operation, read_history, write_history
from latchfree_lincheck.criteria import CRITERIA, judge
from latchfree_model import get_model
from latchfree_model.models.loading import load_model
from latchfree_model.models.own_files import use_files
from latchfree_spark.check import Options
from latchfree_spark.check.judge.batch import unpack
from latchfree_spark.check.judge.judging import judge_batch
from latchfree_spark.modules import as_zip

MODEL = """
from latchfree_model import SequentialModel

class Tally(SequentialModel):
    name = "map"  # of another type than the built-in one, which the compiled engines know
    operations = {"put": 2, "get": 1, "remove": 1}

    def init(self):
        return 0

    def apply(self, state, call):
        return (state, state) if call.f == "get" else (None, state + 1)

WRONG = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch, request):
    """A module with a model, under a name that no other test has."""
    name = f"own_{abs(hash(request.node.nodeid)):x}"
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / f"{name}.py").write_text(MODEL)
    return tmp_path / f"{name}.py"


def tallies():
    """Return histories of a counter of puts."""
    right = [Operation(0, "put", ("a", 1), None, 0, 3), Operation(1, "get", ("a",), 1, 1, 5)]
    wrong = [Operation(0, "put", ("a", 1), None, 0, 1), Operation(1, "get", ("a",), 2, 2, 3)]
    return [History("right", right), History("wrong", wrong)]


def judged(histories, file, options):
    """Return the verdict on each history of a file, as a worker finds it."""
    write_history(file, histories)
    job, table = fragments([file], file.parent, options)
    return {row["history"]: (row["verdict"], row["reason"]) for row in judge_batch(unpack(table), job)}


def expected(file, model, criterion):
    """Return the verdict on each history of a file, as the library finds it."""
    found = {}
    for history in read_history(file, model=model):
        try:
            verdict = judge(history, model, criterion=criterion)
            found[history.name] = verdict.verdict, verdict.reason
        except ValueError as error:
            found[history.name] = "error", str(error)
    return found


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kind", ["map", "queue", "register", "counter"])
def test_each_criterion_judges_as_the_library_does(tmp_path, kind, criterion):
    histories = []
    for seed in range(60):
        history = random_history(kind, seed)
        histories.append(History(f"h{seed}", history.operations))
    found = judged(histories, tmp_path / "x.jsonl", Options(kind, criterion=criterion))
    told = expected(tmp_path / "x.jsonl", kind, criterion)
    assert {name: verdict for name, (verdict, _) in found.items()} == {name: one for name, (one, _) in told.items()}
    if criterion not in ("linearizability", "intermediate-value"):
        assert found == told
        assert {"ok", "violation"} <= {verdict for verdict, _ in found.values()}


def test_a_model_in_a_module(tmp_path, module):
    ((path, _),) = use_files([module])
    assert path == str(module)
    found = judged(tallies(), tmp_path / "x.jsonl", Options(f"{module.stem}:Tally"))
    assert {name: verdict for name, (verdict, _) in found.items()} == {"right": "ok", "wrong": "violation"}


def test_a_model_in_a_wheel(tmp_path, module):
    wheel = tmp_path / f"{module.stem}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.write(module, module.name)
    module.unlink()
    use_files([wheel])
    assert load_model(f"{module.stem}:Tally").name == "map"
    sent = as_zip(wheel)
    assert (sent.suffix, sent.read_bytes()) == (".zip", wheel.read_bytes())


def test_a_file_of_histories_cannot_choose_what_is_imported(tmp_path, module):
    use_files([module])
    with pytest.raises(ValueError, match="no model is called"):
        get_model(f"{module.stem}:Tally")
    (tmp_path / "x.jsonl").write_text(
        json.dumps({"history": "a", "process": 0, "f": "get", "arguments": ["a"], "result": 0, "invoke": 0, "return": 1,
                    "model": f"{module.stem}:Tally"}) + "\n"
    )  # fmt: skip
    job, table = fragments([tmp_path / "x.jsonl"], tmp_path, Options())
    (row,) = judge_batch(unpack(table), job)
    assert row["verdict"] == "error"
    assert module.stem not in sys.modules


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Tally", "a model of your own is module:Name"),
        ("no_such_module:Tally", "name the file with --py-files"),
        ("{}:Missing", "has no attribute 'Missing'"),
        ("{}:WRONG", "is no model: it has no init, step"),
        ("../{}:Tally", "a model of your own is module:Name"),
    ],
)
def test_no_model(module, name, said):
    use_files([module])
    with pytest.raises(ValueError, match=said):
        load_model(name.format(module.stem))


@pytest.mark.parametrize("name", ["missing.py", "x.txt", "."])
def test_no_file_of_modules(tmp_path, name):
    (tmp_path / "x.txt").touch()
    before = list(sys.path)
    with pytest.raises(ValueError, match=r"expected a file that is there and ends in \.py, \.zip, \.whl, \.egg"):
        use_files([tmp_path / name])
    assert sys.path == before


def test_options_that_do_not_go_together():
    with pytest.raises(ValueError, match="no criterion is called 'x'; choose one of linearizability"):
        Options(criterion="x")
    with pytest.raises(ValueError, match="a budget is for linearizability"):
        Options(budget=5, criterion="sequential-consistency")
    assert Options().divisible_by == ("history", "object", "key")
    assert Options(criterion="quiescent-consistency").divisible_by == ("history",)


def test_the_command_judges_one_file_with_a_model_of_your_own(tmp_path, module, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_history("x.jsonl", tallies())
    arguments = ["check", "x.jsonl", "--model", f"{module.stem}:Tally"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == exits.USAGE
    assert "name the file with --py-files" in result.stderr
    result = CliRunner().invoke(app, [*arguments, "--py-files", module.name])
    assert result.exit_code == exits.VIOLATION
    assert f"--py-files {module.name}" in result.stdout


def test_giants_are_not_split_where_parts_do_not_decide(spark, tmp_path, module):
    """Each object by itself is sequentially consistent, and both together are not."""
    crossed = [
        Operation(0, "put", ("k", 1), None, 0, 1, "x"), Operation(0, "get", ("k",), None, 2, 3, "y"),
        Operation(1, "put", ("k", 1), None, 0, 1, "y"), Operation(1, "get", ("k",), None, 2, 3, "x"),
    ]  # fmt: skip
    write_history(tmp_path / "x.jsonl", [History("crossed", crossed)])
    options = Options("map", giant=3, criterion="sequential-consistency")
    summary = run(spark, [tmp_path / "x.jsonl"], tmp_path / "out", options, chunks=1)
    assert summary.verdicts["violation"] == 1
    (failing,) = summary.failing
    assert failing["replay"].endswith("--model map --criterion sequential-consistency")


def test_workers_that_run_already_find_the_model(spark, tmp_path, module):
    files = use_files([module])
    write_history(tmp_path / "x.jsonl", tallies())
    run(spark, [tmp_path / "x.jsonl"], tmp_path / "out", Options(f"{module.stem}:Tally", py_files=files), chunks=1)
    assert {row["history"]: row["verdict"] for row in verdicts(tmp_path / "out")} == {
        "right": "ok", "wrong": "violation",
    }  # fmt: skip
