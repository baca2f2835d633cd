"""Objects whose methods are coroutines: tasks call them, the outside cancels, and the results are judged."""

import asyncio
import json
import sys
import types

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_async, explore_object, outside_event, replay_python
from latchfree_explore.python.replays import PythonReplayError, read, to_json


class Counter:
    """Adds in two halves, with a wait between them."""

    def __init__(self):
        self.n = 0

    async def add(self, amount):
        before = self.n
        await asyncio.sleep(0)
        self.n = before + amount
        return before

    def read(self):
        return self.n


class LockedCounter(Counter):
    """Made while the loop runs, as the lock wants it."""

    def __init__(self):
        super().__init__()
        asyncio.get_running_loop()
        self.lock = asyncio.Lock()

    async def add(self, amount):
        async with self.lock:
            return await super().add(amount)


class TwiceCounter(Counter):
    """Adds twice, one half before the wait and one half after it: a cancelled call leaves half an addition."""

    def __init__(self):
        super().__init__()
        self.lock = asyncio.Lock()

    async def add(self, amount):
        async with self.lock:
            before, self.n = self.n, self.n + 1
            await outside_event("the other half")
            self.n = before + amount
            return before

    async def read(self):
        async with self.lock:
            return self.n


async def made_by_a_coroutine():
    await asyncio.sleep(0)
    return Counter()


def made_by_a_function():
    return Counter()


def made_while_a_loop_runs():
    return LockedCounter()


def explored(make, scenario, **options):
    return explore_object(make, scenario, model="counter", raises=False, **options)


@pytest.mark.parametrize("make", [Counter, made_by_a_coroutine, made_by_a_function])
def test_tasks_call_coroutines(make):
    result = explored(make, "add(1); add(2) | add(1) | read()")
    assert result.wrong.kind == "not linearizable"
    assert result.scenario == "add(2) | add(1)"
    assert result.tasks
    text = result.explain()
    assert "task 1 calls add(1)" in text
    assert "\nobject_tasks.py" not in text


@pytest.mark.parametrize("make", [LockedCounter, made_while_a_loop_runs])
def test_a_lock_of_asyncio_makes_the_calls_linearizable(make):
    result = explored(make, "init: add(1) | add(1); add(2) | add(1) | after: read()")
    assert (result.verdict, result.complete) == ("ok", True), result.explain()


def test_calls_before_and_after_are_part_of_the_history():
    class Forgets(LockedCounter):
        async def add(self, amount):
            before = await super().add(amount)
            self.n = min(self.n, 3)
            return before

    assert explored(Forgets, "add(1) | add(1) | after: read()").verdict == "ok"
    assert explored(Forgets, "init: add(2) | add(1) | add(1)").verdict == "ok"
    result = explored(Forgets, "init: add(2) | add(1) | add(1) | after: read()")
    assert result.wrong.kind == "not linearizable"


def test_a_cancelled_call_may_have_taken_effect_or_not():
    scenario = "add(2) | after: read()"
    assert explored(TwiceCounter, scenario).verdict == "ok"
    result = explored(TwiceCounter, scenario, cancels=1)
    assert result.wrong.kind == "not linearizable"
    assert "cancel task 0" in result.explain()
    assert explored(LockedCounter, "add(2) | add(1) | after: read()", cancels=1).verdict == "ok"


class Mutex:
    def __init__(self):
        self.lock = asyncio.Lock()

    async def acquire(self):
        await self.lock.acquire()

    async def release(self):
        self.lock.release()


class ForgetsWhoWaits(Mutex):
    """Gives the lock to the next one, who may have been cancelled."""

    def __init__(self):
        self.taken, self.waiting = False, []

    async def acquire(self):
        if self.taken:
            self.waiting.append(asyncio.get_running_loop().create_future())
            await self.waiting[-1]
        self.taken = True

    async def release(self):
        if self.waiting:
            self.waiting.pop(0).cancelled()
        else:
            self.taken = False


def test_a_task_is_cancelled_only_in_a_call():
    def wrong(kind):
        scenario = "acquire(); release() | acquire(); release() | acquire(); release()"
        return explore_object(kind, scenario, model="mutex", cancels=1, strategy="dpor", raises=False).wrong

    assert wrong(Mutex) is None
    assert wrong(ForgetsWhoWaits).kind == "deadlock"


def test_a_call_that_cancels_itself_is_wrong():
    class GivesUp(Counter):
        async def add(self, amount):
            raise asyncio.CancelledError

    result = explored(GivesUp, "add(1)")
    assert "CancelledError, though nobody had cancelled its task" in result.wrong.message


def test_threads_are_not_cancelled():
    class Plain:
        def read(self):
            return 0

    with pytest.raises(ValueError, match="cancels is for calls that are coroutines"):
        explored(Plain, "read()", cancels=1)
    with pytest.raises(ValueError, match="cancels must be at least 0"):
        explored(Counter, "read()", cancels=-1)
    assert explored(Counter, "read()").tasks is False


PROGRAM = """
import asyncio
from latchfree_explore import outside_event

class Counter:
    def __init__(self):
        self.n = 0
    async def add(self, amount):
        before = self.n
        await asyncio.sleep(0)
        self.n = before + amount
        return before

async def main():
    event, held = asyncio.Event(), asyncio.Lock()
    async def holds():
        await held.acquire()
        await outside_event("a reply")
        held.release()
    tasks = [asyncio.create_task(holds()) for _ in range(2)]
    await asyncio.gather(*tasks, return_exceptions=True)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    file = tmp_path / "replayed_tasks.py"
    file.write_text(PROGRAM)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "replayed_tasks", raising=False)
    import replayed_tasks

    assert isinstance(replayed_tasks, types.ModuleType)
    return replayed_tasks


def replayed(tmp_path, result, target, model):
    path = tmp_path / "case.json"
    path.write_text(json.dumps(to_json(result, target=target, model=model)))
    return path, replay_python(path)


def test_a_failure_of_tasks_is_replayed(module, tmp_path):
    result = explored(module.Counter, "add(1) | add(1)")
    path, again = replayed(tmp_path, result, "replayed_tasks:Counter", "counter")
    assert (again.verdict, again.reason, again.tasks) == ("violation", result.reason, True)
    document = json.loads(path.read_text())
    for field, value in (("tasks", 1), ("cancels", "0"), ("cancels", True), ("cancels", -1)):
        path.write_text(json.dumps({**document, field: value}))
        with pytest.raises(PythonReplayError, match=field):
            read(path)


def test_a_failure_of_a_coroutine_function_is_replayed(module, tmp_path):
    assert explore_async(module.main).verdict == "ok"
    result = explore_async(module.main, cancels=1, raises=False)
    assert result.wrong.kind == "deadlock"
    _, again = replayed(tmp_path, result, "replayed_tasks:main", "")
    assert (again.verdict, again.reason, again.cancels) == ("violation", result.reason, 1)


def test_files_of_the_first_version_are_read(module, tmp_path):
    result = explored(module.Counter, "add(1) | add(1)")
    path, _ = replayed(tmp_path, result, "replayed_tasks:Counter", "counter")
    old = {name: value for name, value in json.loads(path.read_text()).items() if name not in ("tasks", "cancels")}
    path.write_text(json.dumps({**old, "version": 1}))
    document = read(path)
    assert (document["tasks"], document["cancels"]) == (False, 0)
    path.write_text(json.dumps({**old, "version": 2}))
    with pytest.raises(PythonReplayError, match="'tasks' must be a bool"):
        read(path)
