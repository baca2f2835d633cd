"""Published bugs of public packages, each as a small program: what is run is the package, as it was released.

``python public_bugs.py NAME`` explores one bug with the version of the package that is installed, and prints a line of
JSON. With ``--locked`` the calls are made under a lock, which is the correction where the package has none.
"""

import argparse
import asyncio
import importlib
import json
import threading
from dataclasses import dataclass
from functools import partial

import library_facts
import shared_tasks as st

from latchfree_explore import explore_async, explore_threads, outside_event


@dataclass(frozen=True)
class Bug:
    """A bug.

    Attributes
    ----------
    wrong, right : str
        The version that has the bug, and the one that has not; an empty one: the calls are made under a lock.
    issue : str
        Where it was reported.
    kind : str
        What is wrong, as the verdict says.
    explore : callable
        Explores it; takes whether the calls are made under a lock.
    needs : tuple of str
        What the package imports.
    until : str
        Of a bug of Python itself: the first version without it.
    """

    wrong: str
    right: str
    issue: str
    kind: str
    explore: object
    needs: tuple[str, ...] = ()
    until: str = ""


class Held:
    """Calls on an object, under a lock or not."""

    def __init__(self, it, locked):
        self.it = it
        self.lock = threading.Lock() if locked else None

    def call(self, what):
        if self.lock is None:
            what(self.it)
        else:
            with self.lock:
                what(self.it)


def threads(make, package, *calls, check=None):
    """Return a function that explores calls on an object of a package."""

    def explore(locked):
        return explore_threads(
            *[partial(perform, each) for each in calls],
            setup=lambda: Held(make(), locked),
            check=None if check is None else lambda held: check(held.it),
            include=(package,),
            raises=False,
        )

    return explore


def perform(what, held):
    held.call(what)


def ttl_cache():
    cache = importlib.import_module("cachetools").TTLCache(4, 10, timer=lambda: now[0])
    now = [0]
    cache[1] = 1
    now[0] = 100
    return cache


def simple_cache():
    cache = importlib.import_module("cachelib.simple").SimpleCache(threshold=1)
    cache.set("a", 1)
    cache.set("b", 1)
    return cache


def parser_cache():
    parser = importlib.import_module("ua_parser.user_agent_parser")
    parser.MAX_CACHE_SIZE = 1
    parser._PARSE_CACHE.clear()
    parser._lookup("a", {})
    return parser._lookup


def breaker():
    return importlib.import_module("circuitbreaker").CircuitBreaker(failure_threshold=2)


def fails():
    raise ValueError


def fail(circuit):
    try:
        circuit.call(fails)
    except ValueError:
        return


def clock_cache():
    cache = importlib.import_module("repoze.lru").LRUCache(2)
    cache.put(1, 1)
    return cache


def linked_cache():
    cache = importlib.import_module("pylru").lrucache(2)
    cache[1] = cache[2] = 0
    return cache


def put(key):
    def call(cache):
        cache[key] = key

    return call


def waiters(kind, cancels, users=3):
    """Have tasks take something of anyio in turn; some are cancelled; at the end it must be free."""

    async def main():
        it = getattr(importlib.import_module("anyio"), kind[0])(*kind[1:])

        async def use():
            async with it:
                await outside_event("the work")

        tasks = [asyncio.create_task(use()) for _ in range(users)]
        await asyncio.gather(*tasks, return_exceptions=True)
        async with it:
            return True

    return lambda locked: explore_async(main, cancels=cancels, raises=False, strategy="dpor")


def newcomer(kind):
    """Have a task come at the moment when the lock is given back and another task, which waits, is cancelled."""

    async def main():
        it = getattr(importlib.import_module("anyio"), kind[0])(*kind[1:])

        async def use(late):
            if late:
                await outside_event("a request")
            async with it:
                await outside_event("the work")

        tasks = [asyncio.create_task(use(late)) for late in (False, False, True)]
        await asyncio.gather(*tasks, return_exceptions=True)

    return lambda locked: explore_async(main, cancels=1, raises=False, strategy="dpor")


def wait_for(locked):
    return explore_async(
        partial(st.use_pool, st.FixedPool, users=1, waiting=5), check=lambda pool: pool.whole(), cancels=1,
        raises=False, strategy="dpor",
    )  # fmt: skip


OLD_ANYIO = ("idna", "sniffio", "typing_extensions")
BUGS = {
    "cachetools TTLCache": Bug(
        "cachetools==5.3.1", "", "https://github.com/tkem/cachetools/issues/288", "exception",
        threads(ttl_cache, "cachetools", put(2), put(3)),
    ),
    "cachelib SimpleCache": Bug(
        "cachelib==0.9.0", "", "https://github.com/pallets-eco/flask-caching/issues/572", "exception",
        threads(simple_cache, "cachelib", lambda it: it.set("c", 1), lambda it: it.set("d", 1)),
    ),
    "ua-parser cache": Bug(
        "ua-parser==0.16.0", "ua-parser==0.16.1", "https://github.com/ua-parser/uap-python/issues/132", "exception",
        threads(parser_cache, "ua_parser", lambda lookup: lookup("b", {}), lambda lookup: lookup("c", {})),
    ),
    "circuitbreaker count": Bug(
        "circuitbreaker==2.0.0", "", "https://github.com/fabfuel/circuitbreaker/issues/61", "invariant",
        threads(breaker, "circuitbreaker", fail, fail, check=lambda it: it.opened),
    ),
    "repoze.lru clear": Bug(
        "repoze.lru==0.4", "repoze.lru==0.6", "https://github.com/repoze/repoze.lru/issues/6", "exception",
        threads(clock_cache, "repoze", lambda it: it.get(1), lambda it: it.clear()),
    ),
    "pylru links": Bug(
        "pylru==1.2.1", "", "https://github.com/jlhutch/pylru/issues/18", "exception",
        threads(linked_cache, "pylru", put(3), put(4)),
    ),
    "anyio Lock, owner gone": Bug(
        "anyio==3.3.4", "anyio==4.16.0", "https://github.com/agronholm/anyio/issues/387", "deadlock",
        waiters(("Lock",), 1), OLD_ANYIO,
    ),
    "anyio Lock, cancelled while entering": Bug(
        "anyio==3.4.0", "anyio==4.16.0", "https://github.com/agronholm/anyio/issues/398", "deadlock",
        waiters(("Lock",), 1), OLD_ANYIO,
    ),
    "anyio CapacityLimiter token": Bug(
        "anyio==4.9.0", "anyio==4.16.0", "https://github.com/agronholm/anyio/issues/947", "deadlock",
        waiters(("CapacityLimiter", 1), 1), OLD_ANYIO,
    ),
    "anyio Lock, a newcomer": Bug(
        "anyio==4.13.0", "anyio==4.16.0", "https://github.com/agronholm/anyio/pull/1145", "deadlock",
        newcomer(("Lock",)), OLD_ANYIO,
    ),
    "asyncio.wait_for": Bug(
        "", "", "https://github.com/python/cpython/issues/86296", "invariant", wait_for, until="3.12"
    ),
    "asyncio.Condition": Bug(
        "", "", "https://github.com/python/cpython/issues/112202", "invariant",
        lambda locked: library_facts.FACTS[library_facts.NOTIFIED]("free"), until="3.13",
    ),
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=BUGS)
    parser.add_argument("--locked", action="store_true")
    arguments = parser.parse_args()
    result = BUGS[arguments.name].explore(arguments.locked)
    print(
        json.dumps({
            "verdict": result.verdict,
            "complete": result.complete,
            "kind": result.wrong and result.wrong.kind,
            "reason": result.reason,
            "preemptions": result.preemptions,
            "schedules": result.schedules,
            "found_after": result.found_after,
        })
    )  # fmt: skip


if __name__ == "__main__":
    main()
