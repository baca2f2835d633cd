"""Small databases that keep a level of isolation and no more; all serial orders, by brute force."""

from itertools import combinations

from latchfree_lincheck.transactions import Transaction


class Database:
    """Lists or registers by key, and who has locked which key."""

    def __init__(self, rng, kind):
        self.rng = rng
        self.nothing = () if kind == "list-append" else None
        self.states = [{}]  # after each commit
        self.locks = {}

    @property
    def now(self):
        return self.states[-1]

    def read(self, state, key):
        return state.get(key, self.nothing)

    def do(self, state, operation):
        """Return an operation with its result on a state, which changes."""
        f, key, value = operation
        if f == "r":
            return f, key, self.read(state, key)
        state[key] = (*state.get(key, ()), value) if f == "append" else value
        return operation


def strict_serializable(database, program):
    """All at one instant."""
    yield
    state = dict(database.now)
    done = [database.do(state, each) for each in program]
    database.states.append(state)
    return done


def serializable(database, program):
    """Transactions that only read may see an old state."""
    if any(f != "r" for f, _, _ in program):
        return (yield from strict_serializable(database, program))
    yield
    state = dict(database.rng.choice(database.states))
    return [database.do(state, each) for each in program]


def snapshot_isolation(database, program):
    """All reads see the state at the call; the first to commit wins."""
    begun = database.now
    state = dict(begun)
    done = [database.do(state, each) for each in program]
    yield
    written = {key for f, key, _ in program if f != "r"}
    if any(database.read(database.now, key) != database.read(begun, key) for key in written):
        return None
    database.states.append(database.now | {key: state[key] for key in written})
    return done


def read_committed(database, program):
    """Each read sees what is committed then; a written key is locked until the end."""
    done, own, mine = [], {}, object()
    for f, key, value in program:
        yield
        if f != "r" and database.locks.setdefault(key, mine) is not mine:
            own = None
            break
        if key not in own:
            own_state = {key: database.now[key]} if key in database.now else {}
        else:
            own_state = own
        done.append(database.do(own_state, (f, key, value)))
        if f != "r":
            own[key] = own_state[key]
    yield
    for key in [key for key, holder in database.locks.items() if holder is mine]:
        del database.locks[key]
    if own is None:
        return None
    database.states.append(database.now | own)
    return done


def read_uncommitted(database, program):
    """All work on one state, and an abort undoes nothing."""
    done = []
    for each in program:
        yield
        done.append(database.do(database.now, each))
    return None if database.rng.random() < 0.2 else done


LEVELS = {
    "strict-serializable": strict_serializable,
    "serializable": serializable,
    "snapshot-isolation": snapshot_isolation,
    "read-committed": read_committed,
    "read-uncommitted": read_uncommitted,
}


def run(rng, level, kind="list-append", transactions=12, processes=3, keys=2, longest=3):
    """Return the history of a database that keeps a level, as several processes see it."""
    database = Database(rng, kind)
    history = []
    clock = 0
    clients = [_client(rng, database, level, kind, keys, longest, process) for process in range(processes)]
    while clients:
        client = rng.choice(clients)
        clock += 1
        event = client.send(None)
        if event is None:
            continue
        if event == "call":
            if len(history) == transactions:
                clients.remove(client)
                continue
            history.append(clock)
            client.send((len(history) - 1, clock))
        else:
            number, make = event
            history[number] = make(clock)
    return history


def _client(rng, database, level, kind, keys, longest, process):
    """Yield "call" before a transaction and what it came to after it; between them, None at each step."""
    while True:
        number, invoke = yield "call"
        yield None  # the answer to `send`
        program = []
        for _ in range(rng.randint(1, longest)):
            key = "xyzuvw"[rng.randrange(keys)]
            write = "append" if kind == "list-append" else "w"
            program.append(("r", key, None) if rng.random() < 0.5 else (write, key, rng.getrandbits(60)))
        done = yield from LEVELS[level](database, program)
        yield None
        ending = "fail" if done is None else "info" if rng.random() < 0.1 else "ok"
        operations = tuple(done if ending == "ok" else program)

        def make(clock, operations=operations, ending=ending, invoke=invoke):
            return Transaction(operations, ending, process, invoke, None if ending == "info" else clock)

        yield number, make


def has_serial_order(history, process=False, realtime=False):
    """Whether some order of the committed transactions, and of some of unknown outcome, explains all reads."""
    sure = [i for i, t in enumerate(history) if t.type == "ok"]
    unsure = [i for i, t in enumerate(history) if t.type == "info"]
    for count in range(len(unsure) + 1):
        for some in combinations(unsure, count):
            chosen = sorted([*sure, *some])
            before = {j: {i for i in chosen if i != j and _precedes(history, i, j, process, realtime)} for j in chosen}
            if _extend(history, frozenset(), {}, frozenset(chosen), before, set()):
                return True
    return False


def _precedes(history, i, j, process, realtime):
    first, second = history[i], history[j]
    if first.type != "ok":
        return False
    if process and i < j and first.process is not None and first.process == second.process:
        return True
    return realtime and None not in (first.return_, second.invoke) and first.return_ < second.invoke


def _extend(history, done, state, chosen, before, dead):
    if done == chosen:
        return True
    mark = done, tuple(sorted(state.items()))
    if mark in dead:
        return False
    for i in chosen - done:
        if before[i] <= done:
            after = _executed(history[i], state)
            if after is not None and _extend(history, done | {i}, after, chosen, before, dead):
                return True
    dead.add(mark)
    return False


def _executed(transaction, state):
    state = dict(state)
    for f, key, value in transaction.operations:
        if f == "append":
            state[key] = (*state.get(key, ()), value)
        elif f == "w":
            state[key] = value
        elif transaction.type == "ok" and (value or None) != (state.get(key) or None):
            return None
    return state
