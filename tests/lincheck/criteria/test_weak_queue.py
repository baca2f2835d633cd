"""Weak queues: which refusals need no explanation, compared with the definition in the specification."""

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from latchfree_lincheck import History, Operation, check
from latchfree_lincheck.criteria.weak_queue import without_excused
from latchfree_model import UNKNOWN


def definition(history, capacity):
    """Whether some order explains it: a refusal may be wrong while an operation of the other kind is under way."""
    operations = history.operations

    def overlap(a, b):
        return (b.return_ is None or b.return_ >= a.invoke) and (a.return_ is None or a.return_ >= b.invoke)

    def fits(order):
        held = []
        for each in order:
            beside = any(other.f != each.f and overlap(each, other) for other in operations if other is not each)
            if each.f == "enqueue":
                room = len(held) < capacity
                if each.result is UNKNOWN or (each.result and room):
                    held += [each.arguments[0]] if room else []
                elif each.result or (room and not beside):
                    return False
            elif each.result is UNKNOWN:
                held = held[1:]
            elif each.result is None:
                if held and not beside:
                    return False
            elif not held or held.pop(0) != each.result:
                return False
        return True

    pending = [each for each in operations if each.return_ is None]
    for size in range(len(pending) + 1):
        for some in itertools.combinations(pending, size):
            chosen = [each for each in operations if each.return_ is not None or each in some]
            for order in itertools.permutations(chosen):
                late = any(
                    b.return_ is not None and b.return_ < a.invoke for k, a in enumerate(order) for b in order[k + 1 :]
                )
                if not late and fits(order):
                    return True
    return False


def history_of(seed):
    """A few overlapping operations with results that are often possible."""
    rng = random.Random(seed)
    times = iter(sorted(rng.sample(range(100), 20)))
    rows, open_, values = [], {}, iter(range(1, 9))
    while len(rows) + len(open_) < 5 or open_:
        process = rng.randrange(3)
        if process in open_:
            f, arguments, invoke = open_.pop(process)
            result = rng.random() < 0.6 if f == "enqueue" else rng.choice([None, 1, 2])
            if rng.random() < 0.1:
                rows.append(Operation(f"{process}-{invoke}", f, arguments, UNKNOWN, invoke, None))
            else:
                rows.append(Operation(process, f, arguments, result, invoke, next(times)))
        elif len(rows) + len(open_) < 5:
            f = rng.choice(["enqueue", "dequeue"])
            open_[process] = f, (next(values),) if f == "enqueue" else (), next(times)
    return History(f"seed {seed}", rows)


@given(st.integers(0, 1 << 32), st.integers(1, 2))
def test_leaving_out_what_is_excused_decides_a_weak_queue(seed, capacity):
    history = history_of(seed)
    verdict = check(without_excused(history), f"bounded-queue:{capacity}").verdict
    assert (verdict == "ok") == definition(history, capacity), history.operations


def test_a_refusal_is_excused_by_the_other_kind_alone():
    put, other = Operation(0, "enqueue", (1,), True, 0, 9), Operation(1, "enqueue", (2,), False, 1, 2)
    assert len(without_excused(History("h", [put, other]))) == 2
    get = Operation(2, "dequeue", (), None, 5, 6)
    assert without_excused(History("h", [put, other, get])).operations == (put, other)
