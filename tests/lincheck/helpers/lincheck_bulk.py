"""Random small histories by the million, as rows, and the oracle for them: compiled, and written apart from engines.

An object is a few cells; `apply` says in the plainest way what each row does to them. `brute` tries every order.
"""

from typing import NamedTuple

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models import opcodes as op
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.history.order import order_events

KINDS = {
    # name: (family, kind of state, opcodes, keys, distinct values)
    "register": ("register", "value", (op.GET, op.PUT), 1, False),
    "register distinct": ("register", "value", (op.GET, op.PUT), 1, True),
    "cas-register": ("cas-register", "value", (op.GET, op.PUT, op.REPLACE_IF, op.REPLACE_IF), 1, False),
    "map key": ("map", "value", tuple(range(8)), 1, False),
    "map key distinct": ("map", "value", (op.GET, op.PUT, op.PUT, op.REMOVE), 1, True),
    "map key conditional": ("map", "value", tuple(range(8)), 1, True),
    "map": ("map", "value", (*range(8), op.SNAPSHOT, op.SIZE, op.CLEAR), 3, False),
    "set": ("set", "value", (op.INSERT, op.INSERT, op.DELETE, op.DELETE, op.CONTAINS), 1, False),
    "mutex": ("mutex", "value", (op.INSERT, op.DELETE), 1, False),
    "counter": ("counter", "value", (op.ADD, op.ADD, op.GET), 1, False),
    "append": ("append-kv", "text", (op.GET, op.PUT, op.APPEND, op.APPEND), 1, False),
    "queue": ("queue", "list", (op.ENQUEUE, op.TAKE), 1, False),
    "queue distinct": ("queue", "list", (op.ENQUEUE, op.TAKE), 1, True),
    "bounded queue": ("bounded-queue", "list", (op.ENQUEUE, op.TAKE), 1, False),
    "stack": ("stack", "list", (op.PUSH, op.TAKE), 1, False),
    "stack distinct": ("stack", "list", (op.PUSH, op.TAKE), 1, True),
    "priority queue": ("priority-queue", "list", (op.OFFER, op.TAKE), 1, False),
    "priority queue distinct": ("priority-queue", "list", (op.OFFER, op.TAKE), 1, True),
}
BLIND = {"register", "cas-register"}
VALUES = 3
CELLS = 12
WIDE = VALUES + 1
LETTERS = b"xy"


class Bulk(NamedTuple):
    """Histories: `data` rows are (opcode, key, a, b, result, invoke, return or -1), part after part."""

    data: np.ndarray
    bounds: np.ndarray
    part: np.ndarray
    parts: Parts
    meaning: Meaning
    keys: int


@kernel
def apply(cells, keys, code, key, a, b):
    """Do what a row says to the cells; return the result."""
    size = cells[len(cells) - 1]
    if code in (op.PUSH, op.ENQUEUE, op.OFFER):
        if code == op.ENQUEUE and b >= 0 and size >= b:
            return 0
        at = size
        if code == op.PUSH:
            at = 0
        while code == op.OFFER and at > 0 and cells[at - 1] > a:
            at -= 1
        for i in range(size, at, -1):
            cells[i] = cells[i - 1]
        cells[at] = a
        cells[len(cells) - 1] = size + 1
        return 1 if code == op.ENQUEUE and b >= 0 else op.UNKNOWN_RESULT
    if code == op.TAKE:
        if size == 0:
            return op.ABSENT
        first = cells[0]
        for i in range(size - 1):
            cells[i] = cells[i + 1]
        cells[len(cells) - 1] = size - 1
        return first
    if code == op.SNAPSHOT:
        seen = 0
        for k in range(keys - 1, -1, -1):
            seen = seen * WIDE + cells[k] + 1
        return seen
    if code == op.SIZE:
        count = 0
        for k in range(keys):
            count += cells[k] != op.ABSENT
        return count
    if code == op.CLEAR:
        for k in range(keys):
            cells[k] = op.ABSENT
        return op.UNKNOWN_RESULT
    if code == op.APPEND:
        text = cells[0] + 1
        for i in range(a, a + b):
            text = 2 * text + 1 + i
        cells[0] = text - 1
        return op.UNKNOWN_RESULT
    old = cells[key]
    if code == op.PUT or (code == op.REPLACE and old != op.ABSENT) or (code == op.PUT_IF_ABSENT and old == op.ABSENT):
        cells[key] = a
    elif code == op.REMOVE:
        cells[key] = op.ABSENT
    elif code == op.REPLACE_IF or code == op.REMOVE_IF:
        if old == a and not (code == op.REMOVE_IF and a == op.ABSENT):
            cells[key] = b if code == op.REPLACE_IF else op.ABSENT
            return 1
        return 0
    elif code == op.CONTAINS:
        return 1 if old != op.ABSENT else 0
    elif code == op.INSERT:
        cells[key] = 0
        return 1 if old == op.ABSENT else 0
    elif code == op.DELETE:
        cells[key] = op.ABSENT
        return 1 if old != op.ABSENT else 0
    elif code == op.ADD:
        cells[key] = old + a
    return old


@kernel
def _random(state):
    """Return 31 random bits (xorshift)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(x >> np.uint64(33))


@kernel
def _below(state, limit):
    return _random(state) % limit


@kernel
def _fill_cells(cells, first):
    cells[:] = op.ABSENT
    cells[0] = first
    cells[len(cells) - 1] = 0


@kernel
def _generate(seed, histories, most, codes, keys, distinct, blind, mutex, text, counter, data, bounds):
    """Simulate processes whose operations take effect at one instant; then corrupt, lose and hide some results."""
    state = np.array([seed], np.uint64)
    for _ in range(20):
        _random(state)
    cells = np.empty(max(CELLS, most + 2), np.int64)
    at = 0
    for history in range(histories):
        _fill_cells(cells, 0 if counter else op.ABSENT)
        count = 1 + _below(state, most)
        processes = 1 + _below(state, 4)
        running = np.full(4, -1)
        effective = np.zeros(4, np.bool_)
        low, started, open_, time, fresh = at, 0, 0, 0, 0
        while started < count or open_ > 0:
            p = _below(state, processes)
            if running[p] < 0:
                if started == count:
                    continue
                row = data[at]
                code = codes[_below(state, len(codes))]
                row[0], row[1] = code, _below(state, keys)
                row[2], row[3] = _below(state, VALUES), _below(state, VALUES)
                if distinct and code in (op.PUT, op.PUT_IF_ABSENT, op.REPLACE, op.ENQUEUE, op.PUSH, op.OFFER):
                    row[2] = fresh
                    fresh += 1
                elif distinct and code == op.REPLACE_IF:
                    row[3] = fresh
                    fresh += 1
                if code == op.OFFER and distinct:
                    row[2] = (row[2] * 5 + history) % 11
                if code == op.ENQUEUE:
                    row[3] = -1 if not mutex else 2
                elif code == op.APPEND:
                    row[2] = _below(state, 2)
                    row[3] = _below(state, 3 - row[2])
                elif text and code == op.PUT:
                    row[2] = _below(state, 7) - 1
                if code >= op.SNAPSHOT and code <= op.CLEAR:
                    row[1] = 0
                row[4], row[5], row[6] = op.UNKNOWN_RESULT, time, -1
                running[p], effective[p] = at, False
                at += 1
                started += 1
                open_ += 1
                time += 1
            elif not effective[p]:
                row = data[running[p]]
                row[4] = apply(cells, keys, row[0], row[1], row[2], row[3])
                effective[p] = True
                if blind and row[0] == op.PUT:
                    row[4] = op.UNKNOWN_RESULT
            else:
                data[running[p], 6] = time
                running[p] = -1
                open_ -= 1
                time += 1
        bounds[history + 1] = at
        for _ in range(_below(state, 3)):
            row = data[low + _below(state, at - low)]
            if row[4] != op.UNKNOWN_RESULT:
                other = data[low + _below(state, at - low)]
                if row[0] in (op.REPLACE_IF, op.REMOVE_IF, op.CONTAINS, op.INSERT, op.DELETE) or (
                    row[0] == op.ENQUEUE and row[3] >= 0
                ):
                    row[4] = 1 - row[4]
                elif row[0] == op.SNAPSHOT:
                    row[4] = _below(state, WIDE**keys)
                elif row[0] == op.SIZE:
                    row[4] = _below(state, 4)
                elif _below(state, 2) == 0 and other[4] != op.UNKNOWN_RESULT and other[0] == row[0]:
                    row[4], other[4] = other[4], row[4]
                else:
                    row[4] = _below(state, (fresh if distinct else VALUES) + 2) - 1
        if mutex and codes[0] == op.INSERT:
            for i in range(low, at):
                if _below(state, 2) == 0:
                    data[i, 4] = 1
        lose, hide = _below(state, 3), _below(state, 8)
        for i in range(low, at):
            if lose > 0 and _below(state, 6) < 2 * lose and _last_of_part(data, i, at):
                data[i, 4], data[i, 6] = op.UNKNOWN_RESULT, -1
            elif hide == 0 and _below(state, 4) == 0:
                data[i, 4] = op.UNKNOWN_RESULT
    return at


@kernel
def _last_of_part(data, i, high):
    """Return whether at most three operations are invoked after this one returned: then it may as well be lost."""
    later = 0
    for j in range(i + 1, high):
        later += data[j, 5] > data[i, 6]
    return later <= 3


@kernel
def brute(data, keys, first, until, scratch):
    """Return whether an order of what returned by `until`, and of others invoked before, explains all results."""
    n = len(data)
    needed = 0
    for i in range(n):
        if data[i, 6] >= 0 and data[i, 6] <= until:
            needed |= 1 << i
    cells, choice, taken = scratch
    _fill_cells(cells[0], first)
    depth, done = 0, 0
    choice[0] = 0
    while depth >= 0:
        if needed & ~done == 0:
            return True
        i = choice[depth]
        choice[depth] += 1
        if i >= n:
            depth -= 1
            if depth >= 0:
                done &= ~(1 << taken[depth])
            continue
        if done >> i & 1 or data[i, 5] > until:
            continue
        early = True
        for j in range(n):
            if needed >> j & 1 and not done >> j & 1 and data[j, 6] < data[i, 5]:
                early = False
        if not early:
            continue
        cells[depth + 1] = cells[depth]
        row = data[i]
        result = apply(cells[depth + 1], keys, row[0], row[1], row[2], row[3])
        if row[4] != op.UNKNOWN_RESULT and result != op.UNKNOWN_RESULT and row[4] != result:
            continue
        taken[depth] = i
        done |= 1 << i
        depth += 1
        choice[depth] = 0
    return False


@kernel
def brute_all(data, bounds, keys, first, failing):
    """Write for each history the first row, by return, up to whose return no order explains it, or -1."""
    scratch = np.empty((16, CELLS), np.int64), np.empty(16, np.int64), np.empty(16, np.int64)
    for history in range(len(bounds) - 1):
        low, high = bounds[history], bounds[history + 1]
        mine = data[low:high]
        failing[history] = -1
        if brute(mine, keys, first, 1 << 40, scratch):
            continue
        earliest = 1 << 40
        for i in range(high - low):
            end = mine[i, 6]
            if 0 <= end < earliest and not brute(mine, keys, first, end, scratch):
                earliest = end
                failing[history] = low + i


@kernel
def order_is_legal(data, low, high, keys, first, order, everything):
    """Return whether rows in this order respect real time and results; `everything` that returned must be there."""
    cells = np.empty(CELLS, np.int64)
    _fill_cells(cells, first)
    seen = np.zeros(high - low, np.bool_)
    latest = -1
    for i in order:
        if i < low or i >= high or seen[i - low]:
            return False
        seen[i - low] = True
        row = data[i]
        if 0 <= row[6] < latest:
            return False
        latest = max(latest, row[5])
        result = apply(cells, keys, row[0], row[1], row[2], row[3])
        if row[4] != op.UNKNOWN_RESULT and result != op.UNKNOWN_RESULT and row[4] != result:
            return False
    missing = 0
    for i in range(low, high):
        missing += everything and data[i, 6] >= 0 and not seen[i - low]
    return missing == 0


def generate(name, seed, histories, most=6, lost=0.0):
    """Make random histories of a kind; of four in five, this share of operations is lost, wherever they are."""
    family, kind, codes, keys, distinct = KINDS[name]
    data, bounds = np.zeros((histories * most, 7), np.int64), np.zeros(histories + 1, np.int64)
    text, counter = kind == "text", family == "counter"
    count = _generate(
        seed, histories, most, np.array(codes), keys, distinct, family in BLIND or text,
        family in ("mutex", "bounded-queue"), text, counter, data, bounds,
    )  # fmt: skip
    data = data[:count].copy()
    part = np.repeat(np.arange(histories), np.diff(bounds))
    if lost:
        rng = np.random.default_rng(seed)
        lose = (rng.random(count) < lost) & (rng.random(histories) < 0.8)[part]
        data[lose, 4], data[lose, 6] = op.UNKNOWN_RESULT, -1
    shift = 100 * part
    returned = data[:, 6] >= 0
    events = order_events(data[:, 5] + shift, data[:, 6] + shift, returned)
    parts = Parts.of(part, events, data[:, :5].astype(np.int32), histories)
    return Bulk(data, bounds, part, parts, _meaning(family, kind, keys, histories), keys)


def _meaning(family, kind, keys, histories):
    """Say what the rows of `histories` mean: snapshots and texts have a number for each thing there can be."""
    first = np.full(histories, 0 if family == "counter" else op.ABSENT)
    if kind == "text":
        texts = [""]
        for text in texts:
            texts.extend(text + letter for letter in "xy")
            if len(texts) > 1000:
                break
        known = tuple(text.encode() for text in texts[1:])
        pieces = np.frombuffer(LETTERS, np.uint8).astype(np.int64)
        return Meaning(family, kind, first, pieces=pieces, texts=dict.fromkeys(range(histories), known))
    if keys == 1:
        return Meaning(family, kind, first)
    numbers = np.arange(WIDE**keys)
    contents = np.stack([numbers // WIDE**key % WIDE - 1 for key in range(keys)], axis=1)
    empty = np.full(keys, op.ABSENT)
    return Meaning(
        family, kind, first, dict.fromkeys(range(histories), empty), dict.fromkeys(range(histories), contents)
    )


def oracle(bulk):
    """Return for each history the first row that fails, or -1."""
    failing = np.empty(len(bulk.bounds) - 1, np.int64)
    brute_all(bulk.data, bulk.bounds, bulk.keys, int(bulk.meaning.first[0]) if len(failing) else 0, failing)
    return failing
