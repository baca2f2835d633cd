"""Small programs of asyncio that go on after main has returned, that turn for long, or that keep tasks in sets."""

import asyncio
import contextvars
import sys

from latchfree_explore import outside_event

USER = contextvars.ContextVar("USER")
KEPT = []


async def begun():
    said = []

    async def background():
        said.append("began")
        await asyncio.sleep(1)

    KEPT[:] = [asyncio.create_task(background())]
    return said


async def soon():
    said = []
    asyncio.get_running_loop().call_soon(said.append, "ran")
    return said


async def called_back():
    said = []
    task = asyncio.create_task(asyncio.sleep(1))
    task.add_done_callback(lambda done: said.append("called back"))
    await asyncio.sleep(0)
    return said


async def closed():
    said = []

    async def numbers():
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            said.append("closed")

    KEPT[:] = [numbers()]
    await KEPT[0].__anext__()
    return said


async def fails_at_the_end():
    async def background():
        try:
            await asyncio.sleep(1)
        finally:
            raise KeyError("at the end")

    KEPT[:] = [asyncio.create_task(background())]
    await asyncio.sleep(0)
    return []


async def within_an_hour():
    try:
        async with asyncio.timeout(3600):
            for _ in range(30):
                await asyncio.sleep(0)
        return "in time"
    except TimeoutError:
        return "late"


async def beside_a_heartbeat():
    beats = []

    async def heart():
        while True:
            await asyncio.sleep(60)
            beats.append(1)

    beating = asyncio.create_task(heart())
    queue = asyncio.Queue()
    while queue.qsize() < 25:
        queue.put_nowait(1)
        await asyncio.sleep(0)
    beating.cancel()
    return "beats" if beats else "no beat"


async def before_an_event():
    event = outside_event()
    for _ in range(25):
        await asyncio.sleep(0)
    return event.done()


async def counts_its_rounds():
    event, rounds = outside_event(), 0
    while not event.done():
        rounds += 1
        await asyncio.sleep(0)
    return rounds > 0


async def turns_for_ever():
    while True:
        await asyncio.sleep(0)


async def polls_with_pauses():
    event = outside_event()
    while True:
        if event.done():
            return "done"
        await asyncio.sleep(0.01)


async def polls_a_queue():
    queue, got = asyncio.Queue(), []

    async def producer():
        for k in range(2):
            await asyncio.sleep(0)
            queue.put_nowait(k)

    KEPT[:] = [asyncio.create_task(producer())]
    while len(got) < 2:
        try:
            got.append(queue.get_nowait())
        except asyncio.QueueEmpty:
            await asyncio.sleep(0)
    return got


async def polls_the_clock():
    loop = asyncio.get_running_loop()
    end = loop.time() + 0.02
    while loop.time() < end:
        await asyncio.sleep(0)
    return "done"


async def cancelled_siblings():
    said = []

    async def child(k):
        try:
            await asyncio.sleep(10)
        finally:
            said.append(k)

    async def bad():
        await asyncio.sleep(0)
        raise ValueError("bad")

    try:
        async with asyncio.TaskGroup() as group:
            for k in range(3):
                group.create_task(child(k))
            group.create_task(bad())
    except* ValueError:
        pass
    return tuple(sorted(said))


async def all_cancelled():
    said = []

    async def child(k):
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            said.append(k)

    tasks = [asyncio.create_task(child(k)) for k in range(4)]
    await asyncio.sleep(0)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await asyncio.wait(tasks)
    return tuple(sorted(said))


async def as_completed():
    said = []

    async def child(k):
        said.append(k)

    for each in asyncio.as_completed([child(k) for k in range(4)]):
        await each
    return tuple(sorted(said))


async def looked_at_twice():
    """Two callbacks of one round look at a future; the outside cancels the task that awaits it between them."""
    future, seen = asyncio.get_running_loop().create_future(), []

    async def waits():
        await future

    KEPT[:] = [asyncio.create_task(waits())]
    await asyncio.sleep(0)
    for _ in range(2):
        asyncio.get_running_loop().call_soon(lambda: seen.append(future.done()))
    await asyncio.sleep(0)
    future.cancel()
    return tuple(seen)


async def wait_for():
    """Has the name of a function of asyncio whose task nobody else can cancel."""
    task = asyncio.create_task(asyncio.sleep(1))
    await asyncio.wait([task])
    return task.cancelled()


async def asks_who():
    return USER.get()


async def exits():
    raise SystemExit(3)


async def exits_in_a_task():
    async def leaves():
        sys.exit(4)

    KEPT[:] = [asyncio.create_task(leaves())]
    await asyncio.sleep(1)


async def exits_in_a_callback():
    asyncio.get_running_loop().call_soon(sys.exit, 5)
    await asyncio.sleep(1)


async def handles_a_lost_task():
    got = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: got.append(repr(context["exception"])))

    async def bad():
        raise KeyError("k")

    task = asyncio.create_task(bad())
    await asyncio.sleep(0)
    del task
    await asyncio.sleep(0)
    return got


async def handles_badly():
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: 1 / 0)
    asyncio.get_running_loop().call_soon(lambda: [][1])
    await asyncio.sleep(0)


async def stops_the_loop():
    asyncio.get_running_loop().stop()
    await asyncio.sleep(1)


async def eager_tasks():
    """Each of two tasks that begin at once may be cancelled; the inner one begins while the outer one does."""
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    said = []

    async def inner():
        try:
            await outside_event("a")
        except asyncio.CancelledError:
            said.append("inner")
            raise

    async def outer():
        task = asyncio.create_task(inner())
        try:
            await outside_event("b")
        except asyncio.CancelledError:
            said.append("outer")
            raise
        await asyncio.wait([task])

    await asyncio.wait([asyncio.create_task(outer())])
    return tuple(said)


async def a_callback_gets_on():
    event, said = outside_event(), []
    while len(said) < 40:
        asyncio.get_running_loop().call_soon(said.append, 1)
        await asyncio.sleep(0)
    return event.done()
