"""Models of one's own whose steps are compiled, each beside the same object in plain Python, and random histories."""

import random
from dataclasses import replace

from latchfree_lincheck import History, Operation
from latchfree_model import NOTHING, UNKNOWN, Call, CompiledModel, define, fits


def _counter(state, op, argument, result):
    if op == 1:
        return fits(result, state), state
    if state == 3:
        return fits(result, 0), state
    return fits(result, 1), state + 1


def _lease(state, op, argument, result):
    """Owner and fencing token; op 0 acquire(who) -> token or None, 1 release(who) -> whether, 2 holder()."""
    owner, token = state
    if op == 0:
        if owner != NOTHING and owner != argument:
            return fits(result, NOTHING), state
        return fits(result, token + 1), (argument, token + 1)
    if op == 1:
        if owner != argument:
            return fits(result, 0), state
        return fits(result, 1), (NOTHING, token)
    return fits(result, owner), state


def _bank(state, op, argument, result):
    """Two accounts; op 0 transfer(from, to, amount) -> whether, 1 balance(account), 2 total()."""
    if op == 2:
        return fits(result, state[0] + state[1]), state
    if op == 1:
        return fits(result, state[0] if argument[0] == 0 else state[1]), state
    source, target, amount = argument
    held = state[0] if source == 0 else state[1]
    if amount > held or source == target:
        return fits(result, 0), state
    moved = amount if source == 1 else -amount
    return fits(result, 1), (state[0] + moved, state[1] - moved)


def _mutex(state, op, argument, result):
    """A lock whose acquire waits: op 0 acquire(), 1 release()."""
    return state == op and fits(result, NOTHING), 1 - state


def _transfer(state, source, target, amount):
    if amount > state[source] or source == target:
        return False, state
    after = list(state)
    after[source] -= amount
    after[target] += amount
    return True, tuple(after)


def _acquire(state, who):
    owner, token = state
    return (None, state) if owner not in (None, who) else (token + 1, (who, token + 1))


OWN = {
    "counter": CompiledModel(
        "counter to 3", 0, {"increment": 0, "read": 0}, _counter, readonly=["read"], failures={"increment": False}
    ),
    "lease": CompiledModel(
        "lease", (NOTHING, 0), {"acquire": 1, "release": 1, "holder": 0}, _lease, readonly=["holder"]
    ),
    "bank": CompiledModel(
        "bank", (5, 3), {"transfer": 3, "balance": 1, "total": 0}, _bank, readonly=["balance", "total"]
    ),
    "mutex": CompiledModel("own mutex", 0, {"acquire": 0, "release": 0}, _mutex),
}
"""Compiled."""

PLAIN = {
    "counter": define(
        "plain counter",
        0,
        {"increment": lambda n: (n < 3, min(n + 1, 3)), "read": lambda n: (n, n)},
    ),
    "lease": define(
        "plain lease",
        (None, 0),
        {
            "acquire": _acquire,
            "release": lambda s, who: (s[0] == who, (None, s[1]) if s[0] == who else s),
            "holder": lambda s: (s[0], s),
        },
    ),
    "bank": define(
        "plain bank",
        (5, 3),
        {"transfer": _transfer, "balance": lambda s, a: (s[a], s), "total": lambda s: (sum(s), s)},
    ),
    "mutex": define(
        "plain mutex",
        False,
        {"acquire": lambda s: [] if s else (None, True), "release": lambda s: (None, False) if s else []},
    ),
}
"""The same objects, written again."""

CALLS = {
    "counter": lambda rng: rng.choice([("increment", ()), ("increment", ()), ("read", ())]),
    "lease": lambda rng: (
        ("holder", ()) if rng.random() < 0.25 else (rng.choice(["acquire", "acquire", "release"]), (rng.choice("ab"),))
    ),
    "bank": lambda rng: rng.choice(
        [("transfer", (rng.randrange(2), rng.randrange(2), rng.randrange(1, 6))), ("balance", (1,)), ("total", ())]
    ),
    "mutex": lambda rng: (rng.choice(["acquire", "release"]), ()),
}


def random_own(kind, seed, most=8):
    """Return a small history: simulated calls, perhaps with a result changed, calls lost and results hidden."""
    rng = random.Random(f"{kind} {seed}")
    model, operations, running, time = PLAIN[kind], [], {}, 0
    state, left = model.init(), rng.randint(1, most)
    processes = rng.randint(1, 4)
    while left or running:
        time += 1
        process = rng.randrange(processes)
        if process not in running and left:
            left -= 1
            running[process] = [*CALLS[kind](rng), time, UNKNOWN, False]
        elif process in running and not running[process][4]:
            f, arguments, _, _, _ = running[process]
            outcomes = model.outcomes(next(iter(state)), Call(f, arguments, UNKNOWN))
            if not outcomes:
                if rng.random() < 0.2:
                    f, arguments, invoke, _, _ = running.pop(process)
                    processes += 1
                    operations.append(Operation(f"lost {time}", f, arguments, UNKNOWN, invoke, None))
                continue
            result, after = outcomes[0]
            state = frozenset([after])
            running[process][3:] = result, True
        elif process in running:
            f, arguments, invoke, result, _ = running.pop(process)
            operations.append(Operation(process, f, arguments, result, invoke, time))
    operations = [replace(each, process=place) for place, each in enumerate(operations)]
    done = [place for place, each in enumerate(operations) if each.return_ is not None]
    if done and rng.random() < 0.6:
        place = rng.choice(done)
        others = [each.result for each in operations if each.result is not UNKNOWN] + [None, True, 1, 0]
        operations[place] = replace(operations[place], result=rng.choice(others))
    for place in done:
        if rng.random() < 0.1:
            operations[place] = replace(operations[place], result=UNKNOWN, return_=None)
        elif rng.random() < 0.1:
            operations[place] = replace(operations[place], result=UNKNOWN)
    return History(f"{kind} {seed}", operations)
