"""The criteria by their definitions: every order is tried. And random histories whose real time is scrambled."""

import itertools
import random
from dataclasses import replace

from latchfree_lincheck import History, Operation
from latchfree_model import BLOCKED, UNKNOWN, Call


def orders(operations, comes_before):
    """Yield every order of all completed and some pending operations in which `comes_before(a, b)` is kept."""
    completed = [i for i, operation in enumerate(operations) if operation.return_ is not None]
    pending = [i for i, operation in enumerate(operations) if operation.return_ is None]

    def extend(order, rest):
        if not rest:
            yield order
        for i in rest:
            if not any(comes_before(j, i) for j in rest if j != i):
                yield from extend([*order, i], [j for j in rest if j != i])

    for size in range(len(pending) + 1):
        for some in itertools.combinations(pending, size):
            yield from extend([], [*completed, *some])


def legal(operations, model, order):
    """Return whether every result is legal in that order, each object by itself."""
    states = {}
    for i in order:
        name = operations[i].object
        fine, states[name] = model.step(states.get(name, model.init()), operations[i].call)
        if not fine:
            return False
    return True


def returned_before(operations, i, j):
    return operations[i].return_ is not None and operations[i].return_ < operations[j].invoke


def brute_sequential(operations, model):
    def program(i, j):
        return operations[i].process == operations[j].process and operations[i].invoke < operations[j].invoke

    return any(legal(operations, model, order) for order in orders(operations, program))


def brute_quiescent(operations, model):
    def quiet_between(i, j):
        """Whether the object is quiescent at some moment after i returned and before j is invoked."""
        if operations[i].object != operations[j].object or not returned_before(operations, i, j):
            return False
        mine = [operation for operation in operations if operation.object == operations[i].object]
        moments = [t + 0.5 for t in range(operations[i].return_, operations[j].invoke)]
        return any(
            all(not (each.invoke < t and (each.return_ is None or each.return_ > t)) for each in mine) for t in moments
        )

    return any(legal(operations, model, order) for order in orders(operations, quiet_between))


def brute_intermediate(operations, model):
    reads = [i for i, each in enumerate(operations) if each.f in model.queries and each.return_ is not None]
    seen = [operations[i].result for i in reads]
    lower = upper = False
    for order in orders(operations, lambda i, j: returned_before(operations, i, j)):
        states, values = {}, {}
        for i in order:
            name = operations[i].object
            values[i], states[name] = model.apply(states.get(name, model.init()), operations[i].call)
        pairs = [(values[i], result) for i, result in zip(reads, seen, strict=True) if result is not UNKNOWN]
        lower = lower or all(value <= result for value, result in pairs)
        upper = upper or all(value >= result for value, result in pairs)
    return lower and upper


def scrambled_history(model, menu, seed, most=6):
    """Return results of some order of calls, or nearly, with times that need not be those of that order.

    `menu` is a list of (f, arguments); `seed` decides all else.
    """
    rng = random.Random(f"{model.name} {seed}")
    names = [None, "other"] if rng.random() < 0.2 else [None]
    states = {name: model.init() for name in names}
    programs = {process: [] for process in range(rng.randint(1, 3))}
    for _ in range(rng.randint(1, most)):
        f, arguments = rng.choice(menu)
        name = rng.choice(names)
        result, after = model.apply(states[name], Call(f, arguments, UNKNOWN))
        if result is BLOCKED:
            continue
        states[name] = after
        programs[rng.choice(list(programs))].append((f, arguments, result, name))
    if rng.random() < 0.8:
        _corrupt(rng, [each for program in programs.values() for each in program], programs)
    operations = []
    for process, program in programs.items():
        times = sorted(rng.sample(range(4 * most), 2 * len(program)))
        for (f, arguments, result, name), invoke, return_ in zip(program, times[::2], times[1::2], strict=True):
            result = UNKNOWN if rng.random() < 0.05 else result
            operations.append(Operation(process, f, arguments, result, invoke, return_, name))
        if program and rng.random() < 0.2:
            operations[-1] = replace(operations[-1], result=UNKNOWN, return_=None)
    return History(f"scrambled {seed}", operations)


def _corrupt(rng, calls, programs):
    """Give a call the result of another of the same name."""
    for process, program in programs.items():
        for position, (f, arguments, _, name) in enumerate(program):
            if rng.random() < 0.5:
                others = [result for g, _, result, _ in calls if g == f]
                programs[process][position] = (f, arguments, rng.choice(others), name)
