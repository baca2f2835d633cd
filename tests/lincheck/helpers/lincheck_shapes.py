"""All histories of a few operations over a few calls, each once up to the names of its operations.

What linearizability looks at is who returned before whom was invoked: an interval order. Each has one canonical
representation, in which operation i begins at step a and ends before step b with as few steps as can be (Fishburn,
"Interval Orders and Interval Graphs", 1985). A *shape* is that, and which operations are pending; a history is a
shape and a call for each of its operations, where those of equal intervals may be exchanged.
"""

from collections import Counter
from itertools import chain, combinations_with_replacement, product
from math import comb, prod

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck import History, Operation
from latchfree_model import UNKNOWN, Call, get_model


def _calls(*rows):
    return [Call(f, tuple(arguments), result) for f, arguments, results in rows for result in results]


READS = (None, 0, 1, UNKNOWN)
TRUTHS = (True, False, UNKNOWN)
UNIVERSES = {
    "register": _calls(("write", (0,), [UNKNOWN]), ("write", (1,), [UNKNOWN]), ("read", (), READS)),
    "cas-register": _calls(
        ("write", (0,), [UNKNOWN]), ("read", (), (None, 0, 1)), ("cas", (0, 1), TRUTHS), ("cas", (1, 0), TRUTHS)
    ),
    "map": _calls(
        ("put", ("k", 0), READS), ("put", ("k", 1), READS), ("remove", ("k",), READS), ("get", ("k",), (None, 0, 1))
    ),
    "map, conditional": _calls(
        ("put_if_absent", ("k", 0), (None, 0, UNKNOWN)),
        ("replace", ("k", 1), READS),
        ("replace_if", ("k", 0, 1), TRUTHS),
        ("remove_if", ("k", 1), TRUTHS),
        ("contains", ("k",), (True, False)),
    ),
    "map, whole": _calls(
        ("put", ("j", 0), (None, 0, UNKNOWN)),
        ("put", ("k", 0), (None, 0, UNKNOWN)),
        ("snapshot", (), ((), (("j", 0),), (("j", 0), ("k", 0)))),
        ("size", (), (0, 1, 2)),
        ("clear", (), [UNKNOWN]),
    ),
    "append-kv": _calls(
        ("append", ("k", "x"), [UNKNOWN]),
        ("append", ("k", "y"), [UNKNOWN]),
        ("put", ("k", "x"), [UNKNOWN]),
        ("get", ("k",), ("", "x", "xy", "yx", "xx")),
    ),
    "set": _calls(("add", (7,), TRUTHS), ("remove", (7,), TRUTHS), ("contains", (7,), (True, False))),
    "counter": _calls(("add", (1,), (0, 1, UNKNOWN)), ("add", (-1,), (0, 1, UNKNOWN)), ("read", (), (-1, 0, 1))),
    "queue": _calls(("enqueue", (0,), [UNKNOWN]), ("enqueue", (1,), [UNKNOWN]), ("dequeue", (), READS)),
    "bounded-queue:2": _calls(
        ("enqueue", (0,), TRUTHS), ("enqueue", (1,), (True, False)), ("dequeue", (), (None, 0, 1))
    ),
    "stack": _calls(("push", (0,), [UNKNOWN]), ("push", (1,), [UNKNOWN]), ("pop", (), READS)),
    "priority-queue": _calls(("insert", (0,), [UNKNOWN]), ("insert", (1,), [UNKNOWN]), ("pop_min", (), READS)),
    "mutex": _calls(("acquire", (), (UNKNOWN,)), ("release", (), (UNKNOWN,)), ("try_acquire", (), TRUTHS)),
}


def model_of(name):
    """Return the model of a universe."""
    return get_model(name.partition(",")[0])


def shapes(operations):
    """Return all shapes: sorted tuples of (first step, step before which it has returned, whether it is pending)."""
    found = set()

    def extend(preceding, running, returned):
        if len(preceding) == operations:
            found.update(_canonical(preceding, pending) for pending in _subsets(range(operations), preceding))
        else:
            extend([*preceding, returned], running | {len(preceding)}, returned)
        for each in running:
            if len(preceding) < operations:
                extend(preceding, running - {each}, returned | {each})

    extend([], frozenset(), frozenset())
    return sorted(found)


def _subsets(operations, preceding):
    """Return the sets of operations that may be pending: those that precede nobody."""
    free = [i for i in operations if not any(i in before for before in preceding)]
    return [
        {i for i, chosen in zip(free, choice, strict=True) if chosen} for choice in product((0, 1), repeat=len(free))
    ]


def _canonical(preceding, pending):
    sizes = sorted({len(before) for before in preceding})
    first = [sizes.index(len(before)) for before in preceding]
    last = [
        min((first[j] for j, before in enumerate(preceding) if i in before), default=len(sizes))
        for i in range(len(preceding))
    ]
    return tuple(sorted((a, b, i in pending) for i, (a, b) in enumerate(zip(first, last, strict=True))))


def _groups(shape, calls):
    """Return how many operations of each kind there are, and the calls that they may make."""
    anything = range(len(calls))
    unseen = [number for number in anything if calls[number].result is UNKNOWN]
    return [(count, unseen if row[2] else anything) for row, count in sorted(Counter(shape).items())]


def count(name, operations):
    """Return how many histories there are."""
    calls = UNIVERSES[name]
    return sum(
        prod(comb(len(allowed) + size - 1, size) for size, allowed in _groups(shape, calls))
        for shape in shapes(operations)
    )


def histories(shape, calls):
    """Yield the calls of the operations of a shape, by number, in all ways."""
    groups = [combinations_with_replacement(allowed, size) for size, allowed in _groups(shape, calls)]
    for choice in product(*groups):
        yield tuple(chain.from_iterable(choice))


def precedes(shape):
    """Return the pairs of operations of which the first returned before the second was invoked."""
    return [(i, j) for i, (_, b, _) in enumerate(shape) for j, (a, _, _) in enumerate(shape) if b <= a]


def as_history(shape, calls):
    """Return a history of that shape; two steps of time for each of its own."""
    return History(
        "shape",
        [
            Operation(
                i, call.f, call.arguments, UNKNOWN if pending else call.result, 2 * a, None if pending else 2 * b - 1
            )
            for i, ((a, b, pending), call) in enumerate(zip(shape, calls, strict=True))
        ],
    )


def transitions(model, calls, operations):
    """Return the next state for each call and state, or -1; states are those that so many operations reach."""
    numbers, level = {model.init(): 0}, [model.init()]
    for _ in range(operations):
        level = [after for state in level for call in calls for legal, after in [model.step(state, call)] if legal]
        level = [state for state in dict.fromkeys(level) if state not in numbers]
        for state in level:
            numbers[state] = len(numbers)
    steps = [[model.step(state, call) for state in numbers] for call in calls]
    return [[numbers.get(after, -1) if legal else -1 for legal, after in row] for row in steps]


def brute_force(steps, shape, made):
    """Return for each history of a shape whether some order explains it, by trying all."""
    before = np.zeros(len(shape), np.int64)
    for i, j in precedes(shape):
        before[j] |= 1 << i
    needed = sum(1 << i for i, (_, _, pending) in enumerate(shape) if not pending)
    return _try_all(np.array(steps, np.int64), np.array(made, np.int64), before, needed)


@kernel
def _try_all(steps, made, before, needed):
    found = np.zeros(len(made), np.bool_)
    n = len(before)
    state, choice, taken = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for history in range(len(made)):
        depth, done = 0, 0
        choice[0] = 0
        while depth >= 0:
            if needed & ~done == 0:
                found[history] = True
                break
            i = choice[depth]
            choice[depth] += 1
            if i >= n:
                depth -= 1
                if depth >= 0:
                    done &= ~(1 << taken[depth])
            elif not done >> i & 1 and before[i] & ~done == 0:
                after = steps[made[history, i], state[depth]]
                if after >= 0:
                    taken[depth] = i
                    done |= 1 << i
                    depth += 1
                    state[depth], choice[depth] = after, 0
    return found
