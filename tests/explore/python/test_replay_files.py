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
