"""Small programs of asyncio: right ones, and the shapes of published bugs."""

import asyncio
import threading

from latchfree_explore import outside_event


class Account:
    """Looks, awaits, and acts on what it saw."""

    def __init__(self):
        self.balance = 10
        self.lock = asyncio.Lock()

    async def withdraw(self, amount):
        if self.balance >= amount:
            await outside_event("the audit")
            self.balance -= amount


class LockedAccount(Account):
    async def withdraw(self, amount):
        async with self.lock:
            await super().withdraw(amount)


async def withdraw_twice(kind):
    account = kind()
    await asyncio.gather(account.withdraw(7), account.withdraw(7))
    return account


class Pool:
    """A pool of one connection; a cancellation between the permit and the connection loses the permit."""

    def __init__(self):
        self.permits = asyncio.Semaphore(1)
        self.free = []
        self.out = 0
        self.swallowed = False

    async def acquire(self):
        await self.permits.acquire()
        if not self.free:
            await outside_event("the connection")
            self.free.append(object())
        self.out += 1
        return self.free.pop()

    def release(self, connection):
        self.free.append(connection)
        self.out -= 1
        self.permits.release()

    def whole(self):
        return not self.permits.locked() and self.out == 0 and not self.swallowed


class FixedPool(Pool):
    async def acquire(self):
        await self.permits.acquire()
        try:
            if not self.free:
                await outside_event("the connection")
                self.free.append(object())
        except BaseException:
            self.permits.release()
            raise
        self.out += 1
        return self.free.pop()


async def use_pool(kind, users=2, waiting=None):
    """Use a pool from a few tasks; with `waiting`, each waits so many seconds for a connection at most."""
    pool = kind()

    async def use():
        taking = pool.acquire()
        connection = await (taking if waiting is None else asyncio.wait_for(taking, waiting))
        try:
            await outside_event("the reply")
        finally:
            pool.release(connection)

    tasks = [asyncio.create_task(use()) for _ in range(users)]
    results = await asyncio.gather(*tasks, return_exceptions=True)
    pool.swallowed = any(task.cancelling() and result is None for task, result in zip(tasks, results, strict=True))
    return pool


async def handed_over():
    """A resource is taken before the task begins that gives it back; the fix would take it inside."""
    held = ["the resource"]

    async def use():
        try:
            await asyncio.sleep(0)
        finally:
            held.clear()

    task = asyncio.create_task(use())
    await asyncio.gather(task, return_exceptions=True)
    return held


async def in_turn():
    """Callbacks run first in, first out."""
    said = []
    loop = asyncio.get_running_loop()
    for k in range(3):
        loop.call_soon(said.append, k)
    await outside_event("something")
    await asyncio.sleep(0)
    assert said == [0, 1, 2], said


async def sleeps():
    """Timers land in the order of their deadlines, however late."""
    said = []
    loop = asyncio.get_running_loop()
    for seconds in 3, 1, 2:
        loop.call_later(seconds, said.append, seconds)
    await asyncio.sleep(4)
    assert said == [1, 2, 3], said
    assert loop.time() >= 4


async def polls():
    """Waits for an event in a loop that only gives way."""
    done = False

    async def wait():
        nonlocal done
        await outside_event("the event")
        done = True

    task = asyncio.create_task(wait())
    while not done:
        await asyncio.sleep(0)
    await task


async def never():
    """Waits for what nobody sends."""
    await asyncio.get_running_loop().create_future()


async def forgotten():
    """Starts a task that fails, and never asks for its result."""

    async def fails():
        raise KeyError("lost")

    kept = [asyncio.create_task(fails())]
    await asyncio.sleep(len(kept))


async def in_threads(lock=None):
    """Two threads of a pool add to one number."""
    total = 0

    def add():
        nonlocal total
        if lock is None:
            total += 1
        else:
            with lock:
                total += 1

    await asyncio.gather(asyncio.to_thread(add), asyncio.to_thread(add))
    return total


async def with_a_lock():
    return await in_threads(threading.Lock())


async def from_a_thread():
    """A thread hands a coroutine to the loop, and waits for its result."""
    loop = asyncio.get_running_loop()
    said = []

    async def says(word):
        said.append(word)
        await asyncio.sleep(0)
        return word

    def ask():
        return asyncio.run_coroutine_threadsafe(says("hello"), loop).result()

    assert await asyncio.to_thread(ask) == "hello"
    assert said == ["hello"]


async def over_the_network():
    await asyncio.get_running_loop().create_connection(asyncio.Protocol, "localhost", 1)


async def fails_in_a_callback():
    def bad():
        raise ValueError("in a callback")

    asyncio.get_running_loop().call_soon(bad)
    await asyncio.sleep(0)


async def left_running():
    """What still runs when main returns is cancelled and awaited, as `asyncio.run` does."""
    ended = []

    async def background():
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(True)

    kept = [asyncio.create_task(background())]
    await asyncio.sleep(0)
    assert kept
    return ended
