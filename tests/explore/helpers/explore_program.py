"""A target whose operations are arbitrary little programs: each does one or two accesses to two words."""

import numpy as np

from latchfree.atomics import cas, exchange, fetch_add, fetch_max, load, store
from latchfree.jit import kernel
from latchfree_explore import Target
from latchfree_model import SequentialModel

_1 = np.uint64(1)


@kernel
def access(mem, root, thread, code):
    """One access: the code says which, to which of two words, with which small operand."""
    kind, at, value = code % 6, np.uint64(code // 6 % 2), np.uint64(code // 12 % 3)
    if kind == 0:
        return np.int64(load(mem, at))
    if kind == 1:
        store(mem, at, value)
        return np.int64(0)
    if kind == 2:
        return np.int64(cas(mem, at, value, value + _1))
    if kind == 3:
        return np.int64(exchange(mem, at, value))
    if kind == 4:
        return np.int64(fetch_add(mem, at, value))
    return np.int64(fetch_max(mem, at, value))


@kernel
def transfer(mem, root, thread, value):
    """Two accesses, the second of which depends on what the first one reads."""
    at = np.uint64(value % 2)
    if load(mem, at) == np.uint64(value // 2 % 3):
        store(mem, _1 - at, np.uint64(value))
        return np.int64(1)
    return np.int64(fetch_add(mem, at, _1))


@kernel
def nothing(mem, root, thread):
    """No access at all."""
    return np.int64(7)


class Anything(SequentialModel):
    """A model that nothing violates; these programs have no meaning."""

    name = "anything"
    operations = {"access": 1, "transfer": 1, "nothing": 0}  # noqa: RUF012

    def init(self):
        return 0

    def apply(self, state, call):
        return call.result, state


PROGRAM = Target("program", Anything(), {"access": access, "transfer": transfer, "nothing": nothing})


@kernel
def put(mem, root, thread, at):
    """Write 1 to a word."""
    store(mem, np.uint64(at), _1)
    return np.int64(0)


@kernel
def collect(mem, root, thread):
    """Two words, read one after the other as if at once: a bit each."""
    first = np.int64(load(mem, np.uint64(0)))
    return first + np.int64(2) * np.int64(load(mem, _1))


class TwoWords(SequentialModel):
    """Words that are read at once."""

    name = "two words"
    operations = {"put": 1, "collect": 0}  # noqa: RUF012

    def init(self):
        return 0

    def apply(self, state, call):
        return (0, state | 1 << call.arguments[0]) if call.f == "put" else (state, state)


COLLECT = Target("collect", TwoWords(), {"put": put, "collect": collect})
