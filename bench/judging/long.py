"""One long history: by the general engines, by the monitors, and by a model of one's own."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from judging.figure import PORCUPINE, Figure, beside, best, ok
from judging.fresh import fresh
from judging.recorded import record
from latchfree_lincheck import History
from latchfree_model import NOTHING, CompiledModel, fits, get_model
from peers.plain_wgl import linearizable

_MONITORED = {"register": 1, "map": 1000, "set": 1000, "mutex": 1, "queue": 1, "stack": 1, "priority-queue": 1}


def one_key() -> list[Figure]:
    """A long history of one ambiguous register, by the general engines."""
    history = record("cas-register", 100_000, threads=8)
    engine = ok(history, "cas-register")
    seconds = best(lambda: ok(history, "cas-register"))
    peak = float(fresh("memory").split()[0])
    short = record("cas-register", 2_000, threads=8)
    model = get_model("cas-register")
    short.operations  # noqa: B018 - made before the clock starts
    started = time.perf_counter()
    linearizable(short, model)
    plain = time.perf_counter() - started
    ours = best(lambda: ok(short, "cas-register"))
    name = "100,000 operations on one key, 8 threads"
    note = f"{engine}; of 2,000: {ours * 1e3:.1f} ms, plain Python {plain:.1f} s"
    figures = [
        Figure(name, "s", 1.0, seconds, note=note + beside([history], "cas-register", ["ok"], seconds)),
        Figure(f"{name}: whole process", "MB", 500, peak),
    ]
    if PORCUPINE:
        middle = record("cas-register", 10_000, threads=8)
        ours = best(lambda: ok(middle, "cas-register"))
        note = f"{engine}{beside([middle], 'cas-register', ['ok'], ours)}"
        figures.append(Figure("10,000 operations on one key, 8 threads", "s", 0.1, ours, note=note))
    return figures


def _cell(state: int, op: int, argument: tuple[int, int], result: int) -> tuple[bool, int]:
    """Step of a cas-register as somebody's own model: read, write, cas."""
    if op == 0:
        return fits(result, state), state
    if op == 1:
        return True, argument[0]
    if state == argument[0]:
        return fits(result, 1), argument[1]
    return fits(result, 0), state


def own_model() -> Figure:
    """The register as a model of one's own, beside the one that is built in."""
    own = CompiledModel(
        "own cas-register", NOTHING, {"read": 0, "write": 1, "cas": 2}, _cell, readonly=["read"], failures={"cas": 0}
    )
    history = record("cas-register", 100_000, threads=8)
    ours, built_in = best(lambda: ok(history, own)), best(lambda: ok(history, "cas-register"))
    return Figure("100,000 operations by a model of one's own, beside built in", "times", 3, ours / built_in)


def repeats() -> list[Figure]:
    """Long runs of queues that hold three different items."""
    figures = []
    for threads in (4, 16):
        made = record("queue", 10_000, threads=threads)
        few = [
            replace(each, arguments=tuple(_few(thing) for thing in each.arguments), result=_few(each.result))
            for each in made.operations
        ]
        history = History("few", few)
        engine = ok(history, "queue")
        seconds = best(lambda history=history: ok(history, "queue"))  # type: ignore[misc]
        figures.append(
            Figure(f"10,000 operations of a queue, three items, {threads} threads", "s", 2, seconds, note=engine)
        )
    return figures


def _few(thing: Any) -> Any:
    return thing % 3 if isinstance(thing, int) and not isinstance(thing, bool) else thing


def many_keys() -> Figure:
    """A long history of many keys, by a general engine."""
    history = record("map", 1_000_000, threads=8, keys=1000)
    seconds = best(lambda: ok(history, "map", engine="frontier"))
    note = beside([history], "map", ["ok"], seconds).removeprefix("; ")
    return Figure("1,000,000 operations over 1,000 keys, no monitor", "s", 0.5, seconds, note=note)


def append() -> list[Figure]:
    """Strings that grow, as key-value stores are tested: each client on any key."""
    figures = []
    for clients in (10, 50):
        history = record("append-kv", 2_000, threads=clients, keys=clients)
        history.operations  # noqa: B018 - made before the clock starts
        engine = ok(history, "append-kv")
        seconds = best(lambda history=history: ok(history, "append-kv"))  # type: ignore[misc]
        note = engine + beside([history], "append-kv", ["ok"], seconds)
        figures.append(
            Figure(f"2,000 operations of an append-kv, {clients} clients", "ms", 50, 1e3 * seconds, note=note)
        )
    return figures


def monitors() -> list[Figure]:
    """Each monitor on a million operations."""
    figures = []
    for name, keys in _MONITORED.items():
        history = record(name, 1_000_000, threads=8, keys=keys)
        seconds = best(lambda history=history, name=name: ok(history, name, engine="monitor"))  # type: ignore[misc]
        figures.append(Figure(f"monitor of a {name}", "M operations/s", 5.0, 1 / seconds, least=True))
    return figures
