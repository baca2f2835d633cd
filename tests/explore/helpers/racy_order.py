"""Programs whose threads share an object: `RACES` names an outcome of each that is reached, `NEVER` one that is not."""

from collections import Counter
from dataclasses import dataclass

import numpy as np


@dataclass
class Point:
    x: int = 0


class Shared:
    def __init__(self):
        self.seen = None
        self.on, self.n = True, 0
        self.items, self.by_key = [], {1: 1, 2: 2}
        self.pending = [1]
        self.bytes, self.array, self.counter = bytearray(b"a"), np.array([[1, 2], [3, 4]]), Counter()
        self.point = Point()
        self.a = self.b = 1
        self.send = self.old

    def old(self, n):
        return "old", n

    def new(self, n):
        return "new", n

    def act(self):
        return "class"

    def held(self):
        return self.items


def last_operand(it):
    it.seen = 1 if it.on and it.items else 0


def result_of_a_call(it):
    it.seen = 1 if it.held() else 0


def branch_of_a_condition(it):
    it.seen = 1 if (it.items if it.on else it.pending) else 0


def negated(it):
    it.seen = int(not (it.on and it.items))


def loops_while_pending(it):
    it.seen = 0
    while it.on and it.held():
        it.seen += 1
        it.items.pop()


def adds(it):
    it.items.append(1)


def sends(it):
    it.seen = it.send(it.n)


def send_first(it):
    it.send = it.new
    it.n = 1


def send_last(it):
    it.n = 1
    it.send = it.new


def acts(it):
    it.seen = it.act()


def replaces(it):
    it.act = it.replaced if hasattr(it, "replaced") else lambda: "object"


def hands_on(it):
    def items():
        yield from it.items

    it.items.append(0)
    g = items()
    next(g)
    it.seen = list(g)


def hands_on_keys(it):
    def keys():
        yield from it.by_key

    try:
        it.seen = len(list(keys()))
    except RuntimeError:
        it.seen = "changed"


def asks_at_once(it):
    keys = (each for each in it.by_key)
    try:
        it.seen = len(list(keys))
    except RuntimeError:
        it.seen = "changed"


def puts(it):
    it.by_key[3] = 3


def stores_two(it):
    it.a, (it.b, _) = 2, (3, 4)


def reads_two(it):
    a = it.a
    it.seen = a, it.b


def loops(it):
    for it.n, _ in ((1, 0), (2, 0)):
        pass


def comprehends(it):
    return [it.n for it.n in (1, 2)]


class Asked:
    async def __aenter__(self):
        return 1

    async def __aexit__(self, *error):
        return None


async def _enters(it):
    async with Asked() as it.n:
        it.n = 2


async def _numbers():
    yield 1
    yield 2


async def _loops(it):
    async for it.n in _numbers():
        pass


def _finish(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        return


def enters(it):
    _finish(_enters(it))


def loops_with_await(it):
    _finish(_loops(it))


def reads_n(it):
    it.seen = it.n


def deletes_two(it):
    del (it.a, it.b)


def looks_for_b(it):
    it.seen = hasattr(it, "a"), hasattr(it, "b")


def compares(it):
    it.seen = it.bytes == b"x"


def joins(it):
    it.seen = it.bytes + b"x"


def writes_bytes(it):
    it.bytes[0] = 120


def compares_numbers(it):
    it.seen = int((it.array == 9).sum())


def divides(it):
    it.seen = float((it.array / 2)[0, 0])


def negates(it):
    it.seen = int((-it.array)[0, 0])


def cuts(it):
    it.seen = int(it.array[:1, 0].sum())


def writes_array(it):
    it.array[0, 0] = 9


def positive(it):
    it.seen = len(+it.counter)


def counts(it):
    it.counter["k"] = 1


def matches(it):
    match it:
        case Shared(point=Point(x=1)):
            it.seen = "one"
        case _:
            it.seen = "other"


def matches_in_a_tuple(it):
    match (it.point, 1):
        case (Point(x=1), _):
            it.seen = "one"
        case _:
            it.seen = "other"


def moves(it):
    it.point.x = 1


RACES = [
    ((last_operand, adds), 0), ((last_operand, adds), 1), ((result_of_a_call, adds), 0), ((result_of_a_call, adds), 1),
    ((branch_of_a_condition, adds), 0), ((branch_of_a_condition, adds), 1), ((negated, adds), 0),
    ((loops_while_pending, adds), 0), ((loops_while_pending, adds), 1), ((sends, send_first), ("old", 1)),
    ((sends, send_first), ("new", 0)), ((acts, replaces), "object"), ((replaces, acts), "class"),
    ((hands_on, adds), [1]), ((hands_on, adds), []), ((hands_on_keys, puts), "changed"), ((hands_on_keys, puts), 3),
    ((asks_at_once, puts), "changed"), ((asks_at_once, puts), 3), ((reads_two, stores_two), (1, 3)),
    ((reads_two, stores_two), (2, 3)), ((reads_n, loops), 1), ((reads_n, comprehends), 1), ((reads_n, enters), 1),
    ((reads_n, loops_with_await), 1), ((looks_for_b, deletes_two), (False, True)),
    ((looks_for_b, deletes_two), (True, False)), ((compares, writes_bytes), True), ((joins, writes_bytes), b"xx"),
    ((compares_numbers, writes_array), 1), ((divides, writes_array), 4.5), ((negates, writes_array), -9),
    ((cuts, writes_array), 9), ((positive, counts), 1), ((matches, moves), "one"), ((matches_in_a_tuple, moves), "one"),
]  # fmt: skip
NEVER = [((sends, send_last), ("new", 0))]
