"""What shrinking makes of typical violations, how it is shown, and how far it can be explained."""

import random
from dataclasses import replace

import pytest

from latchfree_lincheck import History, Operation, check, lanes, shrink
from latchfree_lincheck.shrinking import longest_partials
from latchfree_lincheck.shrinking.minimise import minimise
from latchfree_model import UNKNOWN, Call, define, get_model


def simulate(model, menu, count, processes, seed):
    """Return operations of concurrent processes that are linearizable."""
    rng, state, running, operations, started, time = random.Random(seed), model.init(), {}, [], 0, 0
    while started < count or running:
        process, time = rng.randrange(processes), time + 1
        if process not in running:
            if started < count:
                started += 1
                running[process] = [menu(rng, started), time, None]
        elif running[process][2] is None:
            result, state = model.apply(state, Call(*running[process][0], UNKNOWN))
            running[process][2] = (result,)
        else:
            (f, arguments), invoke, (result,) = running.pop(process)
            operations.append(Operation(process, f, arguments, result, invoke, time))
    return sorted(operations, key=lambda each: each.invoke)


def some_map(rng, turn):
    key = rng.randrange(5)
    return rng.choice([("put", (key, turn)), ("get", (key,)), ("remove", (key,)), ("replace", (key, turn))])


def some_map_with_snapshots(rng, turn):
    return ("snapshot", ()) if rng.random() < 0.2 else some_map(rng, turn)


def some_register(rng, turn):
    return ("write", (turn,)) if rng.random() < 0.5 else ("read", ())


def some_stack(rng, turn):
    return ("push", (turn,)) if rng.random() < 0.5 else ("pop", ())


def some_set(rng, turn):
    return rng.choice(["add", "remove", "contains"]), (rng.randrange(5),)


def some_counter(rng, turn):
    return ("add", (rng.randint(1, 3),)) if rng.random() < 0.7 else ("read", ())


def behind(operations):
    """Make a late call of a counter see less than was there long before."""
    at = len(operations) * 3 // 4
    operations[at] = replace(operations[at], result=operations[at // 2].result)


def stale(operations):
    """Make a late read return what was overwritten long before."""
    at = max(at for at, each in enumerate(operations) if each.f in ("get", "read"))
    key = operations[at].arguments
    old = next(each for each in operations if each.f in ("put", "write") and each.arguments[: len(key)] == key)
    operations[at] = replace(operations[at], result=old.arguments[-1])


def twice(operations):
    """Make a late pop return what was popped before."""
    popped = [at for at, each in enumerate(operations) if each.f == "pop" and each.result is not None]
    operations[popped[-1]] = replace(operations[popped[-1]], result=operations[popped[0]].result)


def missed(operations):
    """Make a late snapshot miss a key."""
    at = max(at for at, each in enumerate(operations) if each.f == "snapshot" and len(each.result) > 1)
    operations[at] = replace(operations[at], result=tuple(sorted(operations[at].result))[1:])


def flipped(operations):
    """Make a late contains wrong, that nothing on its element overlaps."""

    def alone(it):
        others = [each for each in operations if each.arguments == it.arguments and each is not it]
        return all(each.return_ < it.invoke or each.invoke > it.return_ for each in others)

    at = max(at for at, each in enumerate(operations) if each.f == "contains" and alone(each))
    operations[at] = replace(operations[at], result=not operations[at].result)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("count", [60, 400])
def test_counters_become_small(count, seed):
    model = get_model("counter")
    operations = simulate(model, some_counter, count, 4, seed)
    behind(operations)
    small = shrink(History("long", operations), model)
    assert check(small, model).verdict == "violation"
    assert len(small) <= 8, lanes(small)
    observed = [each for each in small.operations if each.result is not UNKNOWN]
    assert observed
    assert all(each in operations for each in observed)


@pytest.mark.parametrize(
    ("name", "menu", "count", "corrupt", "most"),
    [
        ("register", some_register, 800, stale, 4),
        ("map", some_map, 2000, stale, 4),
        ("map", some_map_with_snapshots, 300, missed, 6),
        ("stack", some_stack, 120, twice, 4),
        ("set", some_set, 2000, flipped, 6),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_typical_violations_become_small(name, menu, count, corrupt, most, seed):
    model = get_model(name)
    operations = simulate(model, menu, count, 4, seed)
    corrupt(operations)
    history = History("long", operations)
    assert check(history, model).verdict == "violation"
    small = shrink(history, model)
    assert check(small, model).verdict == "violation"
    assert len(small) <= most, lanes(small)
    calls = {(each.process, each.invoke): each.call for each in operations}
    for each in small.operations:
        assert calls[each.process, each.invoke].arguments == each.arguments
        assert each.result is UNKNOWN or calls[each.process, each.invoke].result == each.result or name == "map"


def test_what_a_read_depends_on_stays():
    rows = [("write", (1,), None), ("write", (2,), None), ("read", (), 2), ("write", (3,), None), ("read", (), 2)]
    operations = [Operation(0, f, arguments, result, 2 * t, 2 * t + 1) for t, (f, arguments, result) in enumerate(rows)]
    small = shrink(History("h", operations), "register")
    assert [each.call for each in small.operations] == [operations[at].call for at in (1, 3, 4)]


def test_a_model_of_ones_own_is_shrunk_by_making_calls_optional():
    register = define("mine", None, {"write": lambda state, value: (None, value), "read": lambda state: (state, state)})
    operations = simulate(get_model("register"), some_register, 40, 3, 7)
    stale(operations)
    small = shrink(History("h", operations), register)
    assert check(small, register).verdict == "violation"
    assert len([each for each in small.operations if each.return_ is not None]) == 3
    assert len(small) < 10


def test_only_violations_are_shrunk():
    good = History("good", [Operation(0, "read", (), None, 0, 1)])
    with pytest.raises(ValueError, match="good: only a violation can be shrunk; this is ok"):
        shrink(good, "register")


def test_a_deadline_ends_it():
    operations = simulate(get_model("map"), some_map, 2000, 4, 1)
    stale(operations)
    check(History("warm", operations), "map")
    verdict = check(shrink(History("long", operations), "map", timeout=0.4), "map")
    assert verdict.verdict == "violation"


@pytest.mark.parametrize("seed", range(20))
def test_minimise_leaves_nothing_out_alone(seed):
    rng = random.Random(seed)
    items = list(range(rng.randint(1, 40)))
    needed = set(rng.sample(items, rng.randint(1, min(4, len(items)))))
    assert minimise(items, lambda kept: needed <= set(kept)) == sorted(needed)
    either = minimise(items, lambda kept: len(kept) >= 3 or not items[3:])
    assert len(either) == (3 if items[3:] else 0)


def test_lanes():
    operations = [
        Operation(0, "put", ("k", 1), None, 1, 6),
        Operation(1, "get", ("k",), None, 2, 3),
        Operation(1, "put", ("k", 2), UNKNOWN, 4, None),
        Operation("1'1", "get", ("k",), "x" * 60, 5, 7),
    ]
    expected = """\
process 0       process 1
┌ put('k', 1)
│               get('k') -> None
│               put('k', 2) ...
│               ┌ get('k')
└ None          │
                └ 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...  ✗"""
    assert lanes(History("h", operations), [3]) == expected
    assert lanes(History("empty", [])) == ""


def test_longest_partials_say_where_each_attempt_ends():
    operations = [
        Operation(0, "write", (1,), None, 0, 5),
        Operation(1, "write", (2,), None, 1, 6),
        Operation(2, "read", (), 1, 7, 8),
        Operation(2, "read", (), 2, 9, 10),
    ]
    found = longest_partials(History("h", operations), get_model("register"))
    assert [partial.order for partial in found] == [(1, 0, 2)]
    assert found[0].stuck == ((3, "read() returned 2, but the register held 1"),)
    shorter = [*operations[:2], replace(operations[2], result=3)]
    found = longest_partials(History("h", shorter), get_model("register"), most=2)
    assert sorted(partial.order for partial in found) == [(0, 1), (1, 0)]
    assert longest_partials(History("h", shorter), get_model("register"), timeout=0) == []
