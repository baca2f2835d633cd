"""What holds in the standard library, and what does not: small programs, explored with the interpreter that runs this.

``python library_facts.py [NAME...]`` prints a line of JSON: the version, and for each program and each model of
switches the verdict and the number of schedules.
"""

import asyncio
import json
import platform
import queue
import sys
import threading
import time
from concurrent import futures
from functools import cached_property
from types import SimpleNamespace

from latchfree_explore import explore_async, explore_threads, outside_event

SCHEDULES = 20_000


def threads(*bodies, setup=SimpleNamespace, check=None, **options):
    """Return a function that explores threads in one model."""

    def explore(switches):
        return explore_threads(
            *bodies, setup=setup, check=check, switches=switches, strategy="dpor", schedules=SCHEDULES, raises=False,
            **options,
        )  # fmt: skip

    return explore


def tasks(main, check=None, cancels=0):
    """Return a function that explores coroutines, which switch where they await in either model."""

    def explore(switches):
        return explore_async(
            main, check=check, cancels=cancels, strategy="dpor", switches=switches, schedules=SCHEDULES, raises=False
        )

    return explore


# queue ---------------------------------------------------------------------------------------------------------------


def filled(kind, *items):
    it = kind()
    for each in items:
        it.put(each)
    return SimpleNamespace(queue=it, got=[])


def take(s):
    s.got.append(s.queue.get())


def take_and_say(s):
    s.got.append(s.queue.get())
    s.queue.task_done()


def look_then_take(s):
    if not s.queue.empty():
        s.got.append(s.queue.get_nowait())


def join(s):
    s.queue.join()
    assert s.got == [1]


def small_queue():
    return SimpleNamespace(queue=queue.Queue(1), got=[])


def take_two(s):
    take(s)
    take(s)


def in_order(s):
    return s.got == [1, 2]


def shut(s):
    s.queue.shutdown()


def take_or_end(s):
    try:
        take(s)
    except queue.ShutDown:
        s.got.append("end")


# threading -----------------------------------------------------------------------------------------------------------


def guarded(kind):
    return lambda: SimpleNamespace(it=kind(), inside=0, most=0)


def inside(s):
    with s.it:
        s.inside += 1
        s.most = max(s.most, s.inside)
        s.inside -= 1


def give_back_once_too_often(s):
    s.it.acquire()
    s.it.release()
    try:
        s.it.release()
        s.most += 1
    except ValueError:
        return


def hold(s):
    s.it.acquire()


def event():
    return SimpleNamespace(it=threading.Event(), heard=[])


def hear(s):
    s.heard.append(s.it.wait())


def pulse(s):
    s.it.set()
    s.it.clear()


def barrier():
    return SimpleNamespace(it=threading.Barrier(2), seen=[])


def two_rounds(s):
    s.seen.append(s.it.wait() * 0 + 1)
    s.seen.append(s.it.wait() * 0 + 2)


def meet(s):
    try:
        s.it.wait()
    except threading.BrokenBarrierError:
        s.seen.append("broken")


def meet_in_time(s):
    try:
        s.it.wait(timeout=1)
    except threading.BrokenBarrierError:
        s.seen.append("broken")


def give_up(s):
    s.it.abort()


def cancel_the_timer(s):
    s.ran, s.cancelled = [], False
    timer = threading.Timer(1, lambda: s.ran.append(s.cancelled))
    timer.start()
    time.sleep(1)
    timer.cancel()
    s.cancelled = True
    timer.join()


def start_and_join(s):
    s.seen = []
    child = threading.Thread(target=lambda: s.seen.append(1))
    child.start()
    child.join()
    s.alive = child.is_alive()


def two_join_one(s):
    child = threading.Thread(target=lambda: None)
    child.start()
    other = threading.Thread(target=child.join)
    other.start()
    child.join()
    other.join()


def bounded_buffer():
    return SimpleNamespace(it=threading.Condition(), full=False)


def fill(s):
    with s.it:
        s.it.wait_for(lambda: not s.full)
        s.full = True
        s.it.notify_all()


def drain(s):
    with s.it:
        s.it.wait_for(lambda: s.full)
        s.full = False
        s.it.notify_all()


class Lazy:
    """A value that is made when it is asked for."""

    def __init__(self):
        self.made = 0

    @cached_property
    def value(self):
        self.made += 1
        return self.made


def ask(it):
    return it.value


# concurrent.futures --------------------------------------------------------------------------------------------------


def settle_both(s):
    s.first.set_result(1)
    s.second.set_result(2)


def first_of_two(s):
    s.done = len(futures.wait([s.first, s.second], return_when=futures.FIRST_COMPLETED).done)


def as_they_come(s):
    with futures.ThreadPoolExecutor(1) as pool:
        s.got = sorted(each.result() for each in futures.as_completed([pool.submit(int), pool.submit(int, 1)]))


def shut_down_the_pool(s):
    s.ran = []
    pool = futures.ThreadPoolExecutor(1)
    first, second = pool.submit(s.ran.append, 1), pool.submit(s.ran.append, 2)
    pool.shutdown(cancel_futures=True)
    s.ended = first.done() and second.done() and second.cancelled() == (2 not in s.ran)


def cancel_a_call(s):
    s.ran = []
    with futures.ThreadPoolExecutor(1) as pool:
        call = pool.submit(s.ran.append, 1)
        s.cancelled = call.cancel()


def call_back(s):
    s.told = []
    with futures.ThreadPoolExecutor(1) as pool:
        pool.submit(int).add_done_callback(s.told.append)


def one_after_the_other(s):
    s.workers = set()
    with futures.ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            s.workers.add(pool.submit(threading.get_ident).result())


def future():
    return SimpleNamespace(it=futures.Future(), lost=0)


def settle(s):
    try:
        s.it.set_result(1)
    except futures.InvalidStateError:
        s.lost += 1


# asyncio -------------------------------------------------------------------------------------------------------------


def all_may_have(kind, users=2):
    """Have tasks use something of which there is one; whatever is cancelled, it is free at the end."""

    async def main():
        it = kind()

        async def use():
            async with it:
                await outside_event("work")

        users_of_it = [asyncio.create_task(use()) for _ in range(users)]
        await asyncio.gather(*users_of_it, return_exceptions=True)
        async with it:
            return True

    return main


async def notified():
    """Have one of two waiters notified; if it is cancelled the other one must hear."""
    condition, heard = asyncio.Condition(), []

    async def wait():
        async with condition:
            await condition.wait()
            heard.append(1)

    waiting = [asyncio.create_task(wait()) for _ in range(2)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    async with condition:
        condition.notify()
    await asyncio.sleep(1)
    for each in waiting:
        each.cancel()
    return len(heard) == 1


async def barrier_of_two():
    it, passed = asyncio.Barrier(2), []

    async def meet():
        try:
            await it.wait()
            passed.append(1)
        except asyncio.BrokenBarrierError:
            passed.append(0)

    await asyncio.gather(*[asyncio.create_task(meet()) for _ in range(2)])
    return passed == [1, 1]


async def one_item():
    """Have one of two tasks get an item; if it is cancelled, the item is still there or the other one has it."""
    items, got = asyncio.Queue(), []

    async def get():
        got.append(await items.get())

    takers = [asyncio.create_task(get()) for _ in range(2)]
    await asyncio.sleep(0)
    items.put_nowait(1)
    await asyncio.sleep(1)
    for each in takers:
        each.cancel()
    return len(got) + items.qsize() == 1


NOTIFIED = "asyncio: Condition hands a notify on when its task is cancelled"
FACTS = {
    "queue: two get() never get the same item": threads(
        take, take, setup=lambda: filled(queue.Queue, 1, 2), check=lambda s: sorted(s.got) == [1, 2]
    ),
    "queue: a full Queue(1) keeps the order": threads(
        lambda s: [s.queue.put(1), s.queue.put(2)], take_two, setup=small_queue, check=in_order
    ),
    "queue: join() returns when all is done": threads(
        take_and_say, join, setup=lambda: filled(queue.Queue, 1)
    ),
    "queue: not empty(), so get_nowait() succeeds": threads(
        look_then_take, look_then_take, setup=lambda: filled(queue.Queue, 1)
    ),
    "queue: PriorityQueue gives the smallest item it holds": threads(
        take, lambda s: s.queue.put(0), setup=lambda: filled(queue.PriorityQueue, 2, 1),
        check=lambda s: s.got in ([0], [1]),
    ),
    "queue: SimpleQueue wakes each get()": threads(
        take, take, lambda s: [s.queue.put(1), s.queue.put(2)], setup=lambda: filled(queue.SimpleQueue),
        check=lambda s: sorted(s.got) == [1, 2],
    ),
    "queue: shutdown() ends each get() that waits": threads(
        take_or_end, take_or_end, shut, setup=lambda: filled(queue.Queue), check=lambda s: s.got == ["end", "end"]
    ) if hasattr(queue, "ShutDown") else None,
    "threading: Semaphore(1) lets one in": threads(
        inside, inside, setup=guarded(threading.Semaphore), check=lambda s: s.most == 1
    ),
    "threading: RLock lets one in": threads(
        inside, inside, setup=guarded(threading.RLock), check=lambda s: s.most == 1
    ),
    "threading: BoundedSemaphore refuses a release too many": threads(
        give_back_once_too_often, hold, setup=guarded(threading.BoundedSemaphore), check=lambda s: s.most == 0
    ),
    "threading: set() wakes wait(), also with clear() at once": threads(
        hear, pulse, setup=event, check=lambda s: s.heard == [True]
    ),
    "threading: wait_for() and notify_all() lose no turn": threads(fill, drain, fill, drain, setup=bounded_buffer),
    "threading: a Barrier(2) keeps rounds apart": threads(
        two_rounds, two_rounds, setup=barrier, check=lambda s: s.seen == [1, 1, 2, 2]
    ),
    "threading: abort() lets nobody wait for ever": threads(meet, meet, give_up, setup=barrier),
    "threading: a Barrier breaks for all or for none": threads(
        meet_in_time, meet_in_time, setup=barrier, check=lambda s: len(s.seen) != 1, timeouts=1
    ),
    "threading: after join() no thread is alive": threads(
        start_and_join, check=lambda s: s.seen == [1] and not s.alive
    ),
    "threading: two threads may join one": threads(two_join_one),
    "threading: no function of a Timer runs after cancel()": threads(
        cancel_the_timer, check=lambda s: True not in s.ran
    ),
    "functools: cached_property computes once": threads(
        ask, ask, setup=Lazy, check=lambda it: it.made == 1, include=("functools",)
    ),
    "concurrent.futures: wait(FIRST_COMPLETED) returns one that is done": threads(
        first_of_two, settle_both, check=lambda s: s.done > 0,
        setup=lambda: SimpleNamespace(first=futures.Future(), second=futures.Future()),
    ),
    "concurrent.futures: as_completed() yields each once": threads(as_they_come, check=lambda s: s.got == [0, 1]),
    "concurrent.futures: shutdown(cancel_futures=True) leaves none pending": threads(
        shut_down_the_pool, check=lambda s: s.ended
    ),
    "concurrent.futures: what cancel() has cancelled never runs": threads(
        cancel_a_call, check=lambda s: s.cancelled != bool(s.ran)
    ),
    "concurrent.futures: a callback is called once": threads(call_back, check=lambda s: len(s.told) == 1),
    "concurrent.futures: a pool with an idle worker starts no other": threads(
        one_after_the_other, check=lambda s: len(s.workers) == 1
    ),
    "concurrent.futures: one of two set_result() is refused": threads(
        settle, settle, setup=future, check=lambda s: s.lost == 1
    ),
    "asyncio: a cancelled task leaves Lock free": tasks(all_may_have(asyncio.Lock), cancels=1),
    "asyncio: a cancelled task leaves Semaphore free": tasks(all_may_have(lambda: asyncio.Semaphore(1)), cancels=1),
    "asyncio: Barrier(2) lets both pass": tasks(barrier_of_two, check=bool),
    "asyncio: Queue keeps the item of a cancelled get()": tasks(one_item, check=bool, cancels=1),
    NOTIFIED: tasks(notified, check=bool, cancels=1),
}  # fmt: skip


def told(result):
    """Return a verdict in a word or two, and how many schedules were run."""
    if result.wrong is not None:
        return result.wrong.kind
    assert result.complete, result.reason
    return f"{result.schedules:,}"


def main():
    found = {}
    for name in sys.argv[1:] or FACTS:
        if FACTS[name] is not None:
            found[name] = [told(FACTS[name](switches)) for switches in ("free", "gil")]
    print(json.dumps({"python": platform.python_version(), "found": found}))


if __name__ == "__main__":
    main()
