# ruff: noqa: RUF005, SIM300
"""Functions with generators, conditions, operators and patterns: what each returns must be the same when explored."""

import types
from collections import Counter

from order_snippets import Box, Log, Manager


def sent():
    def inner():
        got = []
        while (x := (yield len(got))) is not None:
            got.append(x)
        return got

    def outer():
        result = yield from inner()
        yield "result", result

    g = outer()
    return next(g), g.send(5), g.send(6), g.send(None)


def thrown():
    log = []

    def inner():
        try:
            yield 1
        except KeyError:
            log.append("caught")
            yield 2
        finally:
            log.append("end")

    def outer():
        yield from inner()

    def over_a_list():
        try:
            yield from [1, 2]
        except KeyError as error:
            yield str(error)

    g, h = outer(), over_a_list()
    next(g), next(h)
    return g.throw(KeyError("x")), g.close(), h.throw(KeyError("y")), log


def closed():
    log = []

    def inner():
        try:
            yield 1
        finally:
            log.append("closed")

    shared = inner()

    def outer():
        yield from shared

    g = outer()
    next(g)
    g.close()
    return log


def sent_to_a_list():
    def outer():
        yield from [1, 2]

    g = outer()
    next(g)
    try:
        g.send(3)
    except AttributeError:
        return "no send"


def handed_on():
    class Counted:
        n = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            if self.n > 2:
                raise StopIteration("value")
            return self.n

    class Generated:
        def __iter__(self):
            got = yield "first"
            return got

    def outer():
        a = yield from Counted()
        b = yield from Generated()
        c = yield from {"k": 1}
        d = yield from (x for x in "yz")
        yield a, b, c, d

    return list(outer())


def handed_on_wrongly():
    def outer():
        yield from 5

    try:
        list(outer())
    except TypeError as error:
        return str(error)


def awaited():
    @types.coroutine
    def old():
        got = yield "waits"
        return got

    async def inner():
        return await old()

    @types.coroutine
    def outer():
        return (yield from inner())

    c = outer()
    waits = c.send(None)
    try:
        c.send(5)
    except StopIteration as error:
        return waits, error.value


def generator_asks_at_once():
    log = []

    class Items:
        def __iter__(self):
            log.append("asked")
            return iter([1])

    g = (x for x in Items())
    log.append("made")
    return list(g), log


def generator_over_what_grows():
    d, s, numbers = {1: 1}, {1}, [1]
    over = [(x for x in d), (x for x in s), (x for x in d.values())]
    growing = (x for x in numbers)
    d[2], numbers[:] = 2, [1, 2]
    s.add(2)
    texts = []
    for each in over:
        try:
            texts.append(list(each))
        except RuntimeError as error:
            texts.append(str(error))
    return texts, list(growing)


def generator_over_nothing():
    try:
        (x for x in 5)
    except TypeError as error:
        return str(error)


def conditions():
    log, box = [], Box(on=True, items=[1], none=[])

    def note(value):
        log.append(value)
        return value

    found = []
    if box.on and note(box.items):
        found.append(1)
    if not (box.none or note([])) and (box.none if box.on else box.items) == []:
        found.append(2)
    found += [x for x in (1, 2) if note([x]) and x > 1]
    while note(box.items) and box.items.pop():
        found.append(3)
    return found, log, 4 if note({}) else 5


def operators():
    a = [1]
    return (
        a + [2], b"x" == bytearray(b"x"), bytearray(b"a") + b"b", 3 - True, -5 + 2 * 3, 7 // 2, 7 / 2, 2**3, ~4, +2.5,
        +Counter(a=1, b=-1), -Counter(a=-1), 1 << 3, {1} | {2}, {1} ^ {1, 2}, "a" "b" == "ab", None == 0, 1 < 2 <= 2,
    )  # fmt: skip


def many_indexes():
    log = Log()
    log[1:, 0], log[:2, ::3] = 5, 6
    log[1:, 0][...][()][*(1, 2)]
    del log[0:1, 2]
    log[1:2, 0] = 3
    return log.entries


def nested_patterns():
    class P:
        __match_args__ = ("x", "y")

        def __init__(self, x, y):
            self.x, self.y = x, y

    found = []
    for value in (P(1, P(2, [3])), [P(1, 2), {"k": P(3, 4)}], (P(0, 0), 1), bytearray(b"x"), 5, None):
        match value:
            case P(x=1, y=P(a, [b])):
                found.append((a, b))
            case [P(x=1) as p, {"k": P(c, d)}]:
                found.append((p.x, c, d))
            case (P(), n):
                found.append(n)
            case b"x" | None:
                found.append("constant")
            case other:
                found.append(other)
    return found


async def _places():
    class Asked:
        def __init__(self, value):
            self.value = value

        async def __aenter__(self):
            return self

        async def __aexit__(self, *error):
            return True

    async def numbers():
        for n in range(3):
            yield n

    box = Box(seen=[])
    async with Asked(1) as box.a, Asked(box.a.value + 1) as box.b:
        raise ValueError
    async for box.n, *box.rest in pairs(numbers()):
        box.seen.append((box.n, box.rest))
    return box.a.value, box.b.value, box.seen, [box.n async for box.n in numbers() if box.n], box.n


async def pairs(numbers):
    async for n in numbers:
        yield n, n, n


def places_of_coroutines():
    try:
        _places().send(None)
    except StopIteration as error:
        return error.value


def class_statement():
    box = Box(base=Manager, metas=[type])

    def decorate(cls):
        cls.decorated = True
        return cls

    box.decorate = decorate

    @box.decorate
    class Derived(box.base, metaclass=box.metas[0]):
        pass

    return Derived.decorated, Derived(1).next().value, Derived.__bases__ == (Manager,)


SNIPPETS = [
    sent, thrown, closed, sent_to_a_list, handed_on, handed_on_wrongly, awaited, generator_asks_at_once,
    generator_over_what_grows, generator_over_nothing, conditions, operators, many_indexes, nested_patterns,
    places_of_coroutines, class_statement,
]  # fmt: skip
