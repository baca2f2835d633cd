"""Replay files of plain Python that were edited, and sources that were edited since."""

import json
import os
import sys

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import Diverged, explore_object, replay_python
from latchfree_explore.python.replays import PythonReplayError, find_class, read, to_json
from latchfree_explore.replay_files import is_replay

BOX = """
class Box:
    def __init__(self):
        self.n = 0
    def add(self, amount):
        before = self.n
        self.n = before + amount
        return before
"""


@pytest.fixture
def case(tmp_path, monkeypatch):
    (tmp_path / "replayed_box.py").write_text(BOX)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "replayed_box", raising=False)
    result = explore_object(find_class("replayed_box:Box"), "add(1) | add(1)", model="counter", raises=False)
    path = tmp_path / "case.json"
    path.write_text(json.dumps(to_json(result, target="replayed_box:Box", model="counter")))
    return path


def edited(path, **fields):
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
    return path


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"choices": [[0, 10**15]]}, "'choices' has more than the 5,000 steps"),
        ({"choices": [[0, 3_000], [1, 3_000]]}, "'choices' has more than the 5,000 steps"),
        ({"choices": [[0, -1]]}, "'choices' is a list of"),
        ({"choices": [0]}, "'choices' is a list of"),
        ({"written": [[1]]}, "'written' is a list of names"),
        ({"written": [{}]}, "'written' is a list of names"),
        ({"switches": "x"}, "'switches' are 'free' or 'gil'"),
        ({"target": ""}, "is no MODULE:NAME"),
        ({"target": ".box:Box"}, "is no MODULE:NAME"),
        ({"target": "no_such_box:Box"}, "there is no module 'no_such_box'"),
        ({"scenario": "add("}, "scenario: expected an operation"),
        ({"model": "none"}, "none"),
        ({"version": 3}, "this program reads"),
        ({"kind": 1}, "'kind' must be a str"),
        ({"preemptions": "lots"}, "'preemptions' is a number of at least 0, or null, not 'lots'"),
        ({"preemptions": [1, 2]}, "'preemptions' is a number"),
        ({"preemptions": -5}, "'preemptions' is a number"),
        ({"model": "map"}, "the model 'map' has no operation 'add'"),
        ({"scenario": "reset() | add(1)"}, "has no operation 'reset'"),
        ({"files": ["a"]}, "'files' is an object"),
    ],
)
def test_what_was_edited_is_named_with_its_file(case, fields, says):
    with pytest.raises(PythonReplayError, match=f"case.json: .*{says}"):
        replay_python(edited(case, **fields))


@pytest.mark.parametrize("text", ["[" * 200_000, "{", "1", "\x00", '{"a": ' + "1" * 6_000 + "}"])
def test_what_is_no_json_is_no_replay(case, text):
    case.write_text(text)
    with pytest.raises(PythonReplayError, match=r"case.json: expected"):
        read(case)


def test_a_pipe_is_refused_and_not_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert not is_replay(pipe, "python-replay")
    with pytest.raises(PythonReplayError, match="is no file on a disk"):
        read(pipe)
    with pytest.raises(PythonReplayError, match="is no file on a disk"):
        read(tmp_path)


def test_lines_that_have_moved_are_the_same_lines(case):
    file = case.parent / "replayed_box.py"
    file.write_text("\n\n" + BOX)
    sys.modules.pop("replayed_box")
    result = replay_python(case)
    assert result.verdict == "violation"
    assert result.reason.endswith("(the source has changed since)")
    file.write_text(BOX.replace("before = self.n", "before = self.n or self.n"))
    sys.modules.pop("replayed_box")
    with pytest.raises(
        Diverged, match=r"step 2 \(the source has changed since\): thread \d did replayed_box.py:\d+ read"
    ):
        replay_python(case)


@pytest.mark.parametrize("name", ["no_such_file.json", "x" * 5_000])
def test_a_file_that_is_not_there_is_no_replay(tmp_path, name):
    with pytest.raises(PythonReplayError, match=name[:50]):
        replay_python(tmp_path / name)


@pytest.mark.parametrize(("stop_at", "error"), [("1", TypeError), (1.5, TypeError), (99, PythonReplayError)])
def test_a_step_is_a_number(case, stop_at, error):
    with pytest.raises(error, match=r"stop_at must be a whole number|case.json: there is no step 99"):
        replay_python(case, stop_at=stop_at)


def test_a_schedule_without_steps_has_none_to_stop_at(case):
    with pytest.raises(PythonReplayError, match="no step 0: the schedule has no steps"):
        replay_python(edited(case, steps=[], choices=[]), stop_at=0)


def test_all_files_of_the_steps_are_looked_at(tmp_path, monkeypatch):
    folder = tmp_path / "boxes"
    folder.mkdir()
    (folder / "replayed_base.py").write_text(BOX)
    (folder / "replayed_sub.py").write_text(
        "import functools\nfrom replayed_base import Box\nclass Sub(Box):\n    pass\nMAKE = functools.partial(Sub)\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for target in "replayed_sub:Sub", "replayed_sub:MAKE":
        (folder / "replayed_base.py").write_text(BOX)
        for name in "replayed_sub", "replayed_base":
            monkeypatch.delitem(sys.modules, name, raising=False)
        result = explore_object(find_class(target), "add(1) | add(1)", model="counter", raises=False)
        path = tmp_path / "case.json"
        path.write_text(json.dumps(to_json(result, target=target, model="counter")))
        assert "(the source" not in replay_python(path).reason
        (folder / "replayed_base.py").write_text("\n\n" + BOX)
        for name in "replayed_sub", "replayed_base":
            monkeypatch.delitem(sys.modules, name)
        assert replay_python(path).reason.endswith("(the source has changed since)")


def test_what_older_files_say_of_the_loop_itself_is_passed_over(case):
    thread, texts = json.loads(case.read_text())["steps"][0]
    old = ["outside:0 callback Ending._until.<locals>.stop", *texts, "outside:0 the end of the pool goes on"]
    steps = [[thread, old], *json.loads(case.read_text())["steps"][1:]]
    assert replay_python(edited(case, steps=steps)).verdict == "violation"
