"""Random programs of a few tasks of asyncio, and what they can do: the outcomes of all schedules that are run."""

from random_programs import explored, module_of

from latchfree_explore.python.aio.program import AsyncProgram
from latchfree_explore.python.program import Machine

BASE = [
    "await asyncio.sleep(0)", "await asyncio.sleep(1)", "await asyncio.sleep(2)", "r.append(s.x)", "s.x += 1",
    "s.x = 5", "await outside_event('e')",
]  # fmt: skip
PRIMITIVES = [
    "await s.lock.acquire(); await asyncio.sleep(0); s.lock.release()", "s.ev.set()", "await s.ev.wait()",
    "async with s.lock: s.x += 1; await asyncio.sleep(0)", "async with s.sem: r.append(s.x); await asyncio.sleep(1)",
    "async with s.cond: await asyncio.wait_for(s.cond.wait(), 1)", "async with s.cond: s.cond.notify(1)",
    "async with s.cond: s.cond.notify_all()", "s.ev.clear()", "s.q.put_nowait(s.x)", "r.append(await s.q.get())",
    "await s.bq.put(s.x)", "r.append(await s.bq.get())", "s.q.task_done()", "await s.q.join()", "r.append(s.q.qsize())",
    "r.append(await asyncio.wait_for(s.q.get(), 1))", "await asyncio.wait_for(s.sem.acquire(), 1)", "s.sem.release()",
    "await s.bar.wait()", "r.append(await s.fut())", "s.fut().done() or s.fut().set_result(s.x)", "s.fut().cancel()",
    "r.append(s.fut().done())",
]  # fmt: skip
TIMES = [
    "loop().call_later(1, s.bump)", "loop().call_later(2, s.bump)", "loop().call_later(3, s.read, r)",
    "loop().call_at(2, s.bump)", "loop().call_at(1, s.read, r)", "r.append(loop().time())", "s.timers[-1].cancel()",
    "s.timers.append(loop().call_later(1, s.bump))", "await asyncio.wait_for(outside_event('e'), 1)",
    "await asyncio.wait_for(s.ev.wait(), 2)", "async with asyncio.timeout(1): await s.ev.wait()",
    "async with asyncio.timeout(2): await outside_event('f'); s.x += 1",
    "async with asyncio.timeout(3) as tm: tm.reschedule(loop().time() + 1); await outside_event('g')",
]  # fmt: skip
TASKS = [
    "r.append(await asyncio.gather(s.work(1), s.work(0), return_exceptions=True))",
    "await asyncio.gather(s.work(1), s.fail())", "await asyncio.shield(s.work(1))",
    "async with asyncio.TaskGroup() as tg: tg.create_task(s.work(1))",
    "async with asyncio.TaskGroup() as tg: tg.create_task(s.fail())",
    "r.append(await s.first([s.work(1), s.work(2)]))", "s.tasks[0].cancel()", "s.tasks[-1].cancel()",
    "asyncio.current_task().uncancel()", "r.append([t.done() for t in s.tasks])",
    "s.tasks[0].add_done_callback(lambda t: r.append(('cb', s.x)))", "loop().call_soon(s.read, r)",
    "loop().call_soon(s.read, r); loop().call_soon(s.read, r)", "async for v in s.numbers(): r.append(v); break",
    "s.evs.append(outside_event('h')); r.append(s.evs[0].done())", "r.append([e.done() for e in s.evs])",
]  # fmt: skip
THREADS = [
    "await asyncio.to_thread(s.bump)", "r.append(await asyncio.to_thread(s.ev.is_set))",
    "await asyncio.to_thread(s.loop.call_soon_threadsafe, s.bump)",
    "await asyncio.wait_for(asyncio.to_thread(s.bump), 1)",
    "r.append(await asyncio.to_thread(s.are_done))", "r.append(await asyncio.to_thread(s.ask))",
    "loop().run_in_executor(None, s.read, r)", "r.append(await asyncio.to_thread(s.q.qsize))",
    "await asyncio.to_thread(s.loop.call_soon_threadsafe, s.tasks[0].cancel)", "await asyncio.to_thread(s.nap)",
    "await asyncio.wait_for(asyncio.to_thread(s.nap), 1)",
]  # fmt: skip
AROUND = [
    *["{0}"] * 6, "try:\n        {0}\n    finally: s.x += 1; await asyncio.sleep(0)",
    "try:\n        {0}\n    except asyncio.CancelledError: r.append('c')",
    "try:\n        {0}\n    except asyncio.CancelledError: r.append('c'); raise",
    "try:\n        {0}\n    except TimeoutError: r.append('late')", "for _ in range(2):\n        {0}",
]  # fmt: skip
START = """
import asyncio
import time
from asyncio import get_running_loop as loop
from latchfree_explore import outside_event
class S:
    def __init__(s):
        s.x, s.lock, s.ev, s.q, s.timers = 0, asyncio.Lock(), asyncio.Event(), asyncio.Queue(), []
        s.sem, s.cond, s.bq, s.bar = asyncio.Semaphore(1), asyncio.Condition(), asyncio.Queue(1), asyncio.Barrier(2)
        s.results, s.evs, s.tasks, s.f, s.loop = [[], [], []], [], [], None, loop()
    def bump(s):
        s.x += 1
    def read(s, r):
        r.append((s.x, [t.done() for t in s.tasks], s.q.qsize(), s.lock.locked(), s.ev.is_set()))
    def are_done(s):
        return [t.done() for t in s.tasks]
    def nap(s):
        time.sleep(1)
        s.x += 1
    def ask(s):
        return asyncio.run_coroutine_threadsafe(s.work(0), s.loop).result()
    def fut(s):
        if s.f is None:
            s.f = loop().create_future()
        return s.f
    async def work(s, n):
        await asyncio.sleep(n)
        s.x += 1
        return s.x
    async def fail(s):
        await asyncio.sleep(0)
        raise ValueError('f')
    async def first(s, given):
        done, left = await asyncio.wait([asyncio.create_task(c) for c in given], return_when='FIRST_COMPLETED')
        return len(done), len(left)
    async def numbers(s):
        try:
            yield s.x
            yield 2
        finally:
            await asyncio.sleep(0)
            s.x += 10
async def main():
    s = S()
    s.tasks += [asyncio.create_task(t(s)) for t in TASKS]
    await asyncio.wait(s.tasks, timeout=7)
    ends = [t.done() and (t.cancelled() or type(t.exception()).__name__) for t in s.tasks]
    return s.results, s.x, ends
"""
DEADLINE = START + "async def t0(s):\n    await asyncio.sleep(2)\n    s.results[0].append(s.x)\n"
"""A task whose timer has an earlier deadline than main's, which may pass before the task makes its own."""

CANCELLED_LATE = START.replace("timeout=7", "timeout=None") + (
    "async def t0(s):\n    try:\n        s.results[0].append(await asyncio.to_thread(s.q.qsize))\n"
    "    finally: s.x += 1; await asyncio.sleep(0)\n"
)
"""A task that may be cancelled when it has its thread's result, at its last wait."""


def random_tasks(rng, does=(*BASE, *PRIMITIVES, *TIMES, *TASKS)):
    """Return a module with a coroutine function `main`, which has one or two tasks work on an object."""
    count = rng.choice([1, 2, 2])
    parts = [START]
    for task in range(count):
        body = [rng.choice(AROUND).format(rng.choice(does)) for _ in range(rng.randint(1, 3))]
        parts.append(f"async def t{task}(s):\n    r = s.results[{task}]\n    " + "\n    ".join(body))
    return tasks_of("\n".join(parts), count)


def random_threads(rng):
    """Return a module whose `main` has one task work with threads: two threads come in between at any access."""
    body = [rng.choice(AROUND).format(rng.choice(THREADS)), rng.choice(BASE)][:: rng.choice([1, -1])]
    lines = "\n    ".join(["r = s.results[0]", *body[: rng.choice([1, 2, 2])]])
    return tasks_of(START.replace("timeout=7", "timeout=None") + f"async def t0(s):\n    {lines}", 1)


def tasks_of(source, count):
    return module_of(f"{source}\nTASKS = [{', '.join(f't{k}' for k in range(count))}]", count)


class Outcomes(AsyncProgram):
    """Remembers what each schedule came to."""

    def __init__(self, module, cancels):
        super().__init__(module.main, None, cancels)
        self.seen = set()
        self.forced = False

    def judge(self, run):
        if run.problem is not None and run.problem[0] == "diverged":
            raise AssertionError(run.problem)
        self.forced = self.forced or run.forced
        errors = [type(task.error).__name__ for task in run.tasks if task.error is not None]
        self.seen.add(repr((self._result, errors, run.problem and run.problem[0])))


def outcomes(module, strategy, *, cancels, most):
    """Return what the schedules of a strategy came to, how many there were, how many were cut, and whether all ran."""
    program = Outcomes(module, cancels)
    seen, schedules, cut, whole = explored(program, Machine(program, polls=False), strategy, most)
    return seen, schedules, cut, whole and not program.forced
