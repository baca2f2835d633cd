"""Small programs of asyncio with clocks and threads, and what keeps locks older than a schedule."""

import asyncio
import concurrent.futures
import math
import sys
import threading
import time

from latchfree_explore import outside_event

LOCK = asyncio.Lock()
KEPT = []
KEPT_NUMBERS = []


class Holder:
    """What a program keeps from run to run."""

    def __init__(self):
        self.lock, self.queue, self.event = asyncio.Lock(), asyncio.Queue(), asyncio.Event()
        self.condition, self.permits = asyncio.Condition(), asyncio.Semaphore(1)


HELD = Holder()


# clocks --------------------------------------------------------------------------------------------------------------


async def never_wakes():
    woken = []

    async def for_ever():
        await asyncio.sleep(math.inf)
        woken.append(1)

    KEPT[:] = [asyncio.create_task(for_ever())]
    await asyncio.sleep(0.01)
    await asyncio.sleep(0)
    return tuple(woken)


def pause():
    """Take no time; a test has it take some."""


async def apart():
    """Three sleeps, of which two are equally long: code takes its time, so their ends may be rounds apart."""
    said = []

    async def sleeps(name, seconds):
        if name == "B":
            pause()
        await asyncio.sleep(seconds)
        return name

    left = {asyncio.create_task(sleeps(name, seconds)) for name, seconds in (("C", 0.3), ("A", 0.2), ("B", 0.2))}
    while left:
        done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
        said.append("".join(sorted(task.result() for task in done)))
    return tuple(said)


async def of_one_moment():
    """asyncio's heap of timers compares nothing but deadlines: equal ones are called in no order to rely on."""
    loop, said = asyncio.get_running_loop(), []
    at = loop.time() + 0.01
    for k in range(5):
        loop.call_at(at, said.append, k)
    await asyncio.sleep(0.05)
    return tuple(said)


async def naps_beside_a_timer():
    napping = asyncio.create_task(asyncio.to_thread(time.sleep, 0.1))
    await asyncio.sleep(0.2)
    return napping.done()


async def waits_beside_a_timer():
    event = threading.Event()
    waiting = asyncio.create_task(asyncio.to_thread(event.wait, 0.1))
    await asyncio.sleep(0.2)
    event.set()
    return await waiting


async def asks_the_time():
    asyncio.get_running_loop().call_later(2, int)
    return await asyncio.to_thread(lambda: (time.monotonic() >= 2, time.monotonic() >= 2))


# threads -------------------------------------------------------------------------------------------------------------


class Odd(BaseException):
    """No Exception."""


async def raises_in_a_thread():
    def fails():
        raise Odd

    try:
        await asyncio.to_thread(fails)
    except Odd:
        return "caught"


async def leaves_in_a_thread():
    try:
        await asyncio.to_thread(sys.exit, 1)
    except SystemExit:
        return "caught"


async def _cancels_itself():
    raise asyncio.CancelledError


async def asks_for_a_cancelled_result():
    loop = asyncio.get_running_loop()
    try:
        await asyncio.to_thread(lambda: asyncio.run_coroutine_threadsafe(_cancels_itself(), loop).result())
    except asyncio.CancelledError:
        return "asyncio's"
    except concurrent.futures.CancelledError:
        return "of concurrent.futures"


async def waits_for_a_cancelled_result():
    loop = asyncio.get_running_loop()

    def waits():
        return len(concurrent.futures.wait([asyncio.run_coroutine_threadsafe(_cancels_itself(), loop)]).done)

    return await asyncio.to_thread(waits)


async def cancels_from_a_thread():
    loop, said, began = asyncio.get_running_loop(), [], asyncio.Event()

    async def runs():
        began.set()
        try:
            await loop.create_future()
        except asyncio.CancelledError:
            said.append("cancelled")
            raise

    futures = []
    await asyncio.to_thread(lambda: futures.append(asyncio.run_coroutine_threadsafe(runs(), loop)))
    await began.wait()
    futures[0].cancel()
    while not said:
        await asyncio.sleep(0)
    return said[0]


async def asks_for_the_loop():
    def asks():
        try:
            return str(asyncio.get_running_loop())
        except RuntimeError as error:
            return str(error)

    return await asyncio.to_thread(asks)


async def makes_a_task_in_a_thread():
    def makes():
        coroutine = asyncio.sleep(0)
        try:
            KEPT[:] = [asyncio.create_task(coroutine)]
        except RuntimeError as error:
            coroutine.close()
            return str(error)
        return "made"

    return await asyncio.to_thread(makes)


async def shuts_the_pool():
    await asyncio.to_thread(int)
    await asyncio.get_running_loop().shutdown_default_executor()
    try:
        await asyncio.to_thread(int)
    except RuntimeError as error:
        return str(error)


async def polls_a_thread():
    said = []
    task = asyncio.create_task(asyncio.to_thread(said.append, "said"))
    while not said:
        await asyncio.sleep(0)
    await task
    return said[0]


async def polls_a_future():
    future = asyncio.get_running_loop().run_in_executor(None, int)
    while not future.done():
        await asyncio.sleep(0.01)
    return future.result()


async def wakes_nobody():
    """A thread completes a future itself; the loop that waits does not hear of it."""
    future = asyncio.get_running_loop().create_future()
    threading.Thread(target=lambda: future.set_result(1), daemon=True).start()
    return await future


async def looks_twice():
    """A thread looks twice at a task, which may end in between."""
    task = asyncio.create_task(asyncio.sleep(0))
    return await asyncio.to_thread(lambda: (task.done(), task.done()))


async def looks_twice_at_a_queue():
    queue = asyncio.Queue()
    asyncio.get_running_loop().call_later(0.02, queue.put_nowait, 1)
    return await asyncio.to_thread(lambda: (queue.empty(), queue.empty()))


async def looks_twice_at_a_list():
    said = []
    asyncio.get_running_loop().call_later(1, said.append, 1)
    return await asyncio.to_thread(lambda: (len(said), len(said)))


async def appends_in_a_thread():
    said = []
    appending = asyncio.create_task(asyncio.to_thread(said.append, 1))
    seen = await asyncio.to_thread(lambda: (len(said), len(said)))
    await appending
    return seen


# older locks ---------------------------------------------------------------------------------------------------------


async def takes_turns(lock):
    async def use():
        async with lock:
            await outside_event()

    await asyncio.gather(use(), use())
    return lock.locked()


async def of_the_module():
    return await takes_turns(LOCK)


async def of_an_object():
    return await takes_turns(HELD.lock)


async def appends():
    asyncio.get_running_loop().call_soon(KEPT_NUMBERS.append, 1)
    await asyncio.sleep(0)
    return len(KEPT_NUMBERS)


async def permits():
    return await takes_turns(HELD.permits)


async def leaves_it_locked():
    was = LOCK.locked()
    await outside_event()
    await LOCK.acquire()
    await outside_event()
    return was


async def leaves_an_item():
    before = HELD.queue.qsize()
    await outside_event()
    HELD.queue.put_nowait(1)
    return before


async def waits_for_an_item():
    async def puts():
        await outside_event()
        HELD.queue.put_nowait(1)

    return (await asyncio.gather(HELD.queue.get(), puts()))[0]


async def leaves_it_set():
    was = HELD.event.is_set()
    waiting = asyncio.create_task(HELD.event.wait())
    await outside_event()
    HELD.event.set()
    await waiting
    return was


async def notifies():
    async def waits():
        async with HELD.condition:
            await HELD.condition.wait()

    waiting = asyncio.create_task(waits())
    await asyncio.sleep(0)
    await outside_event()
    async with HELD.condition:
        HELD.condition.notify()
    await waiting
    return HELD.condition.locked()


async def of_equal_sums():
    """Two deadlines that are one reading of the clock and the same delay are one moment."""
    loop, said = asyncio.get_running_loop(), []
    start = loop.time()
    loop.call_at(start + 0.01, lambda: (said.append("a"), loop.call_soon(said.append, "x")))
    loop.call_at(0.01 + start, said.append, "b")
    await asyncio.sleep(0.05)
    return tuple(said)


async def wraps_a_future():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return await asyncio.wrap_future(pool.submit(int, "4"))


async def asks_the_loop_for_what_it_cannot_do():
    loop, said = asyncio.get_running_loop(), []
    future = loop.create_future()
    for refused in (loop.close, lambda: loop.run_until_complete(future)):
        try:
            refused()
        except RuntimeError as error:
            said.append(str(error))
    return tuple(said)


async def sets_what_is_slow():
    loop = asyncio.get_running_loop()
    before = loop.get_debug(), loop.slow_callback_duration
    loop.set_debug(True)
    loop.slow_callback_duration = 1
    await asyncio.create_task(asyncio.sleep(0))
    return before, loop.get_debug(), loop.slow_callback_duration


async def sets_an_event_in_a_thread():
    event = asyncio.Event()
    threading.Thread(target=event.set).start()
    await event.wait()


async def completes_a_future_in_a_thread():
    future = asyncio.get_running_loop().create_future()
    threading.Thread(target=future.set_result, args=(1,)).start()
    await future


async def puts_an_item_in_a_thread():
    items = asyncio.Queue()
    threading.Thread(target=items.put_nowait, args=(1,)).start()
    await items.get()
