"""Hard histories: operations that never returned, and searches that a deadline ends."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

from judging.figure import Figure, best
from judging.recorded import record
from latchfree_lincheck import History, Operation, check
from latchfree_model import UNKNOWN


def crashes() -> list[Figure]:
    """Histories in which twenty operations never returned."""
    figures = []
    for name in ("register", "cas-register", "map", "set"):
        history = record(name, 1_000, threads=8, crashes=0.02, seed=3)
        lost = sum(operation.return_ is None for operation in history.operations)
        seconds = best(lambda history=history, name=name: check(history, name, timeout=60))  # type: ignore[misc]
        verdict = check(history, name, timeout=60)
        note = f"{lost} crashed; {verdict.verdict} by {verdict.engine}"
        figures.append(Figure(f"20 crashed operations of a {name}", "s", 1.0, seconds, note=note))
        if lost < 14 or verdict.verdict == "unknown":
            raise SystemExit(f"{name}: {lost} crashed, {verdict.explain()}")
    for name in ("queue", "stack", "priority-queue"):
        figures += [_crashed(name, lost) for lost in (17, 21)]
    return figures


def _crashed(name: str, lost: int) -> Figure:
    """Judge histories in which so many operations never returned, half of them with two results exchanged."""
    histories = []
    for seed in range(1000):
        history = record(name, 1_000, threads=8, crashes=lost / 1000, seed=seed)
        if sum(operation.return_ is None for operation in history.operations) == lost:
            histories += [history, exchanged(history, 10)]
        if len(histories) == 10:
            break
    verdicts = Counter(check(history, name, timeout=10).verdict for history in histories)
    seconds = max(best(lambda history=history: check(history, name, timeout=10)) for history in histories)  # type: ignore[misc]
    note = f"the slowest of {', '.join(f'{count} {verdict}' for verdict, count in verdicts.items())}"
    return Figure(
        f"{lost} crashed operations of a {name}", "s", 1.0 if not verdicts["unknown"] else 0.0, seconds, note=note
    )


def exchanged(history: History, apart: int) -> History:
    """Exchange the results of two takes that are so many takes apart, in the middle."""
    operations = list(history.operations)
    took = [i for i, each in enumerate(operations) if each.return_ is not None and isinstance(each.result, int)]
    one, other = took[len(took) // 2], took[len(took) // 2 + apart]
    swapped = operations[other].result, operations[one].result
    for i, result in zip((one, other), swapped, strict=True):
        operations[i] = replace(operations[i], result=result)
    return History(f"{history.name}, two results exchanged", operations)


def hard(writers: int, rounds: int) -> History:
    """Make a history that takes exponential time: blind writes of few values, and a read of none."""
    operations = []
    for turn in range(rounds):
        start = 100 * turn
        operations += [Operation(w, "cas", (w, w + 1), UNKNOWN, start + w, start + 50 + w) for w in range(writers)]
        operations += [Operation(f"w{w}", "write", (w,), None, start + w, start + 50 + w) for w in range(writers)]
    late = Operation("reader", "read", (), "never written", 100 * rounds, 100 * rounds + 1)
    return History("hard", [*operations, late])


def deadlines() -> list[Figure]:
    """How much too late each engine answers."""
    figures = []
    engines = ("auto", "frontier", "wgl", "python", "smt")
    for engine in engines:  # compiled code is loaded before the clock starts
        check(hard(3, 2), "cas-register", engine=engine)  # type: ignore[arg-type]
    for engine in engines:
        history = hard(14, 12) if engine != "smt" else hard(6, 2)
        check(history, "cas-register", timeout=0.05, engine=engine)  # type: ignore[arg-type]
        worst = 0.0
        for timeout in (0.2, 0.5, 1.0):
            started = time.perf_counter()
            verdict = check(history, "cas-register", timeout=timeout, engine=engine)  # type: ignore[arg-type]
            over = time.perf_counter() - started - timeout
            if verdict.verdict == "unknown":
                worst = max(worst, over)
        figures.append(Figure(f"deadline overshoot, {engine}", "ms", 100, max(0.0, 1e3 * worst)))
    return figures
