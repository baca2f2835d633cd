"""Asynchronous classes are tested as tasks, in the same interleavings each time."""

import asyncio
import random

import pytest

from latchfree_lincheck.testing import NotLinearizable, linearizable, stateful, tasks
from latchfree_lincheck.testing.loop import SeededLoop
from latchfree_lincheck.testing.menu import Step
from latchfree_lincheck.testing.stuck import Stuck


class RacyCounter:
    """Another task may add while this one sleeps."""

    def __init__(self):
        self.value = 0

    async def add(self, n):
        before = self.value
        await asyncio.sleep(0)
        self.value = before + n
        return before

    async def read(self):
        return self.value


class LockedCounter(RacyCounter):
    def __init__(self):
        super().__init__()
        self.lock = asyncio.Lock()

    async def add(self, n):
        async with self.lock:
            return await super().add(n)


class Mailbox:
    """An `asyncio.Queue` with a timeout; it needs a running loop to be made, and is closed."""

    closed = 0

    def __init__(self):
        self.loop = asyncio.get_running_loop()
        self.queue = asyncio.Queue()

    async def enqueue(self, x):
        await asyncio.sleep(1)
        await self.queue.put(x)

    async def dequeue(self):
        try:
            return await asyncio.wait_for(self.queue.get(), timeout=5)
        except TimeoutError:
            return None

    async def aclose(self):
        await asyncio.sleep(0)
        Mailbox.closed += 1


def failure(model, make, **options):
    with pytest.raises(NotLinearizable) as caught:
        linearizable(model, seconds=300, shrink_seconds=300, **options)(make)()
    return caught.value


def test_a_race_of_tasks_is_found_shrunk_and_found_again():
    first, second = (failure("counter", RacyCounter, threads=2) for _ in range(2))
    assert str(first) == str(second)
    assert [len(task) for task in first.program] == [1, 1]
    assert "add(1) || add(1)" in str(first)
    assert first.verdict.verdict == "violation"


def test_correct_classes_pass():
    linearizable("counter", programs=20, repeats=10)(LockedCounter)()
    linearizable("queue", programs=20, repeats=10)(Mailbox)()
    assert Mailbox.closed >= 20 * 10


def test_what_makes_the_object_may_be_a_coroutine():
    @linearizable("counter", threads=2)
    async def test_counter():
        await asyncio.sleep(0)
        return RacyCounter()

    with pytest.raises(NotLinearizable):
        test_counter()


def test_a_function_may_make_the_call():
    async def take(it):
        await asyncio.sleep(0)
        return it.pop(0) if it else None

    linearizable("queue", methods={"enqueue": "append", "dequeue": take}, programs=10)(list)()


def test_it_may_be_run_while_a_loop_runs():
    async def main():
        linearizable("counter", programs=3, repeats=2)(LockedCounter)()

    asyncio.run(main())


def test_tasks_that_wait_for_each_other_are_named_at_once():
    class Waits:
        async def add(self, n):
            await asyncio.Event().wait()

    with pytest.raises(Stuck, match=r"the program .*did not end \(no task can go on.*process 0: add\(1\) pending"):
        linearizable("counter", operations=["add"])(Waits)()


def test_tasks_that_run_for_ever_are_named():
    class Spins:
        async def add(self, n):
            while True:
                await asyncio.sleep(0)

    with pytest.raises(Stuck, match=r"did not end \(no end after 100,000 steps\): process"):
        linearizable("counter", operations=["add"], programs=1, repeats=1, threads=1)(Spins)()


def test_a_network_is_refused_by_name():
    class Connects:
        async def add(self, n):
            await asyncio.open_connection("localhost", 1)

    with pytest.raises(NotImplementedError, match=r"loop.create_connection: programs of tasks run in memory, without"):
        linearizable("counter", operations=["add"])(Connects)()

    class Threads:
        async def add(self, n):
            await asyncio.to_thread(len, "")

    with pytest.raises(NotImplementedError, match=r"loop\.run_in_executor"):
        linearizable("counter", operations=["add"])(Threads)()


def test_a_coroutine_of_a_plain_function_is_no_result():
    class Wrapped:
        def add(self, n):
            return RacyCounter().add(n)

    with pytest.raises(TypeError, match=r"add\(1\) returned a coroutine, but is not declared with `async def`"):
        linearizable("counter", operations=["add"], programs=1)(Wrapped)()


def test_what_a_task_raises_is_a_failure():
    class Full:
        async def add(self, n):
            raise OverflowError("full")

    with pytest.raises(OverflowError, match="full"):
        linearizable("counter", operations=["add"])(Full)()


def test_sequential_programs_await_too():
    case = stateful("counter", LockedCounter, programs=10)
    case("runTest").debug()

    class Wrong(RacyCounter):
        async def add(self, n):
            await super().add(n)
            return n + 1

    with pytest.raises(AssertionError, match="but the counter held"):
        stateful("counter", Wrong, programs=10)("runTest").debug()


def test_rounds_differ_by_seed_and_number_only():
    program = ((Step("add", (1,)), Step("read", ())), (Step("add", (2,)), Step("read", ())))

    def run(seed, yielding=1.0):
        rounds = tasks.rounds(program, RacyCounter, _call, repeats=10, yielding=yielding, seed=seed)
        return [each.operations for each in rounds]

    assert run(1) == run(1)
    assert run(1) != run(2)
    assert len(set(run(1))) > 1
    assert len(set(run(1, yielding=0))) == 1


def _call(target, step):
    return getattr(target, step.f)(*step.arguments)


# the loop ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [None, *range(5)])
def test_the_loop_runs_what_asyncio_runs(seed):
    """Locks, queues, timeouts, groups, cancellation and the clock do on it what they do on asyncio's own."""
    loop = SeededLoop(None if seed is None else random.Random(seed))

    async def main():
        seen, queue, lock = [], asyncio.Queue(2), asyncio.Lock()

        async def produce(name):
            for number in range(5):
                async with lock:
                    await asyncio.sleep(0.1)
                await queue.put((name, number))

        async def consume():
            while True:
                seen.append(await queue.get())
                queue.task_done()

        consumer = asyncio.create_task(consume(), name="consumer")
        async with asyncio.TaskGroup() as group:
            for name in "ab":
                group.create_task(produce(name))
        await queue.join()
        consumer.cancel()
        assert await asyncio.gather(consumer, return_exceptions=True) != [None]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3):
                await asyncio.sleep(100)
        loop.call_later(2, seen.append, "late")
        await asyncio.sleep(3)
        assert loop.time() == pytest.approx(1 + 3 + 3)
        assert loop.is_running()
        return seen

    seen = loop.run_until_complete(main())
    assert seen.pop() == "late"
    assert [each for each in seen if each[0] == "a"] == [("a", number) for number in range(5)]
    assert len(seen) == 10
    loop.close()
    assert loop.is_closed()


def test_callbacks_keep_their_turn():
    for seed in range(20):
        loop, seen = SeededLoop(random.Random(seed)), []

        async def main(loop=loop, seen=seen):
            for number in range(5):
                loop.call_soon(seen.append, number)
            while len(seen) < 5:
                await asyncio.sleep(0)

        loop.run_until_complete(main())
        assert seen == [0, 1, 2, 3, 4]


def test_closing_ends_what_still_runs():
    loop, ended = SeededLoop(random.Random(1)), []

    async def background():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def main():
        main.task = asyncio.create_task(background())
        await asyncio.sleep(0)
        await asyncio.sleep(1)

    loop.run_until_complete(main())
    loop.close()
    assert ended == [True]
