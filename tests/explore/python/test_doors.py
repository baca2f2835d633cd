"""Other ways in: generated programs, the page of a failure, the debugger at a step of a replay."""

import asyncio
import gc
import io
import json
import re
import sys

import pytest

pytest.importorskip("greenlet")

import shared_objects as so

from latchfree_explore import ExplorationFailed, explore_object, explore_threads, replay_python
from latchfree_explore.python.replays import find_class, to_json
from latchfree_lincheck.testing import linearizable


class Counter:
    def __init__(self):
        self.value = 0

    def add(self, n):
        before = self.value
        self.value = before + n
        return before

    def read(self):
        return self.value


class ConvertingCounter(Counter):
    def add(self, n):
        before = int(self.value)
        self.value = before + n
        return before


class AsyncCounter(Counter):
    async def add(self, n):
        before = self.value
        await asyncio.sleep(1)
        self.value = before + n
        return before


class LockedAsyncCounter(Counter):
    def __init__(self):
        super().__init__()
        self.lock = asyncio.Lock()

    async def add(self, n):
        async with self.lock:
            before = self.value
            await asyncio.sleep(1)
            self.value = before + n
            return before


def judged(make, explore, **options):
    return linearizable("counter", explore=explore, threads=2, most_calls=2, programs=10, **options)(make)


@pytest.mark.parametrize(("make", "explore"), [(Counter, "free"), (ConvertingCounter, "gil")])
def test_generated_programs_are_explored_and_made_small(make, explore):
    with pytest.raises(ExplorationFailed) as caught:
        judged(make, explore)()
    text = str(caught.value)
    assert re.search(r"scenario: add\(1\) \|\| (add\(1\)|read\(\); read\(\))", text), text
    assert f"{explore}: threads change" in text


def test_what_a_program_has_frozen_is_explored_too():
    gc.freeze()
    with pytest.raises(ExplorationFailed):
        judged(Counter, "free")()


def test_generated_programs_of_tasks_are_explored():
    with pytest.raises(ExplorationFailed, match=r"scenario: add\(1\) \|\| add\(1\)"):
        judged(AsyncCounter, "free", operations=["add"])()
    judged(LockedAsyncCounter, "free", operations=["add"])()


def test_what_the_interpreter_lock_keeps_whole_passes():
    judged(Counter, "gil")()


def test_what_cannot_be_explored_is_refused():
    with pytest.raises(ValueError, match="explore is 'free' or 'gil', not 'all'"):
        judged(Counter, "all")
    with pytest.raises(ValueError, match="judges linearizability, not 'sequential-consistency'"):
        judged(Counter, "free", criterion="sequential-consistency")


def page_data(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_a_failure_is_a_page_that_loads_nothing():
    result = explore_threads(
        *[lambda it: it.increment()] * 2, setup=so.Counter, check=lambda it: it.n == 2, strategy="dpor", raises=False
    )
    text = result.page()
    assert not re.search(r"https?:|src=|@import|url\(", text)
    data = page_data(text)
    assert data["columns"] == ["thread 0", "thread 1"]
    assert [step["column"] for step in data["steps"]] == [step.thread for step in result.steps]
    lines = [line for step in data["steps"] for line in step["lines"]]
    assert any(line["source"] == "before = self.n" and "read Counter.n: 0" in line["did"] for line in lines)
    assert data["wrong"] == f"{result.wrong.kind}: {result.wrong.message}"
    right = explore_threads(lambda it: it.increment(), setup=so.Counter)
    with pytest.raises(ValueError, match="no schedule to be shown"):
        right.page()


def test_what_a_value_says_does_not_end_the_page():
    shared = []

    def add():
        shared.append("</script><b>")

    result = explore_threads(add, add, check=lambda: len(shared) == 1, strategy="dpor", raises=False)
    words = [line for step in page_data(result.page())["steps"] for line in step["lines"]]
    assert any("</script><b>" in did for line in words for did in line["did"])


@pytest.fixture
def replay_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("stopped_map.py").write_text(
        "class Map:\n    def __init__(self):\n        self.items = {}\n    def put(self, k, v):\n"
        "        old = self.items.get(k)\n        self.items[k] = v\n        return old\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    result = explore_object(find_class("stopped_map:Map"), "put(0, 1) | put(0, 2)", raises=False)
    path = tmp_path / "case.json"
    path.write_text(json.dumps(to_json(result, target="stopped_map:Map", model="map")))
    return path


def test_the_debugger_opens_at_a_step_and_disturbs_nothing(replay_file, monkeypatch, capsys):
    steps = len(json.loads(replay_file.read_text())["steps"])
    for number in range(steps):
        monkeypatch.setattr(
            sys, "stdin", io.StringIO("p k, v, self.items\np self.put(9, 9)\np self.items.pop(9)\nn\nc\n")
        )
        result = replay_python(replay_file, stop_at=number)
        said = capsys.readouterr().out
        assert result.verdict == "violation"
        assert f"step {number} of thread " in said
        assert "(0, " in said
        assert "None" in said
        assert "the schedule decides who goes on" in said
    monkeypatch.setattr(sys, "stdin", io.StringIO("b 5\ntbreak put\ncondition 1 k\nw\nup\nc\n"))
    replay_python(replay_file, stop_at=1)
    said = capsys.readouterr().out
    assert said.count("there are no breakpoints") == 3
    assert "stopped_map.py" in said
    assert "latchfree_explore" not in said
    assert "Oldest frame" in said
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    with pytest.raises(KeyboardInterrupt):
        replay_python(replay_file, stop_at=0)
    with pytest.raises(ValueError, match=f"no step {steps}: the schedule has steps 0 to {steps - 1}"):
        replay_python(replay_file, stop_at=steps)
