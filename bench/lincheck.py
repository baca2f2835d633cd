"""Benchmark of the linearizability checker: ``python bench/lincheck.py``.

Prints each figure beside what is asked of it and, where it is feasible, beside the plain search in Python; exits 1 if
one is missed. With ``--porcupine DIR``, the folder of its source, Porcupine judges the same histories. Histories are
simulated (see `recorded`); making them is not timed, judging them is, from columns to verdict. Memory and compilation
are measured in fresh processes. The group ``shell`` measures whole commands on log files, start and parsing included:
the processor time (user and system) of ``latchfree check FILE...`` beside that of a program made of Porcupine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import report
from latchfree_lincheck import Column, Columns, History, Operation, check, check_many
from latchfree_model import NOTHING, UNKNOWN, CompiledModel, fits, get_model
from peers import Unavailable
from peers.plain_wgl import linearizable
from peers.porcupine import Porcupine
from recorded import record, record_many
from shell_logs import jepsen_log, kv_log, processor_seconds, stale, write_logs

_MONITORED = {"register": 1, "map": 1000, "set": 1000, "mutex": 1, "queue": 1, "stack": 1, "priority-queue": 1}
_REPEATS = 3

PORCUPINE: list[Porcupine] = []
"""The peer, if there is one."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure; `asked` is an upper bound, or a lower one when `least`."""

    name: str
    unit: str
    asked: float
    reached: float
    least: bool = False
    note: str = ""

    @property
    def missed(self) -> bool:
        """Whether it is worse than asked."""
        return self.reached < self.asked if self.least else self.reached > self.asked


def best(run: Callable[[], Any]) -> float:
    """Return the seconds of the fastest of a few runs, after one to warm up."""
    run()
    found = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        run()
        found.append(time.perf_counter() - started)
    return min(found)


def ok(history: History, model: str | CompiledModel, **options: Any) -> str:
    """Judge a history that is linearizable; return which engine did."""
    verdict = check(history, model, **options)
    if verdict.verdict != "ok":
        raise SystemExit(f"{history.name}: expected ok, but the verdict is {verdict.explain()}")
    return verdict.engine


def beside(histories: Sequence[History], model: str, verdicts: Sequence[str], seconds: float) -> str:
    """Return how Porcupine does on the same histories, to be added to a note."""
    if not PORCUPINE:
        return ""
    judged = PORCUPINE[0].judge(histories, model)
    if any(theirs not in (ours, "unknown") for ours, theirs in zip(verdicts, judged.verdicts, strict=True)):
        raise SystemExit(f"{histories[0].name}: Porcupine and the checker disagree")
    return f"; {judged}: {judged.seconds / seconds:.3g} times as long"


def many_small() -> Figure:
    """A hundred histories as Jepsen makes them of etcd."""
    histories = [
        History(f"etcd {seed}", record("cas-register", 80, threads=5, seed=seed, crashes=0.05).operations)
        for seed in range(100)
    ]
    seconds = best(lambda: [check(history, "cas-register") for history in histories])
    model = get_model("cas-register")
    started = time.perf_counter()
    answers = [linearizable(history, model) for history in histories]
    plain = time.perf_counter() - started
    if answers != [check(history, "cas-register").verdict == "ok" for history in histories]:
        raise SystemExit("the plain search and the checker disagree")
    verdicts = ["ok" if answer else "violation" for answer in answers]
    note = f"plain Python {plain:.2f} s{beside(histories, 'cas-register', verdicts, seconds)}"
    return Figure("100 cas-register histories of 80 operations", "s", 0.2, seconds, note=note)


def many_at_once() -> list[Figure]:
    """A hundred thousand map histories of 20 operations, given as columns."""
    recorded, history = record_many("map", 10_000, 20, threads=4, keys=3)
    columns = recorded.take(np.tile(np.arange(len(history)), 10))
    names = (np.repeat(np.arange(10) * 10_000, len(history)) + np.tile(history, 10)).astype(np.int64)
    figures = []
    for kind, asked, values in (("each value written once", 30, None), ("four values", 60, 4)):
        given = columns if values is None else _of_few_values(columns, values)
        found = check_many(given, names)
        if set(found.verdict) != {"ok"}:
            raise SystemExit(f"{kind}: expected ok, but there are {Counter(found.verdict)}")
        seconds = best(lambda given=given: check_many(given, names))  # type: ignore[misc]
        started = time.perf_counter()
        alone = [check(found.one(number), "map").verdict for number in range(2_000)]
        each = 1e6 * (time.perf_counter() - started) / len(alone)
        note = f"10,000 different ones; one by one {each:.0f} us"
        figures.append(Figure(f"100,000 histories, {kind}, each", "us", asked, 1e6 * seconds / len(found), note=note))
    return figures


def _of_few_values(columns: Columns, values: int) -> Columns:
    """Write few values in place of many, which keeps a map without comparisons linearizable."""
    key, value = columns.arguments

    def few(column: Column) -> Column:
        return Column(np.where(column.codes >= 0, column.codes % values, column.codes), column.table)

    return replace(columns, arguments=(key, few(value)), result=few(columns.result))


def one_key() -> list[Figure]:
    """A long history of one ambiguous register, by the general engines."""
    history = record("cas-register", 100_000, threads=8)
    engine = ok(history, "cas-register")
    seconds = best(lambda: ok(history, "cas-register"))
    peak = float(_fresh("memory").split()[0])
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


_SCRIPT = Path(sys.executable).with_name("latchfree")
_COMMAND = [*([str(_SCRIPT)] if _SCRIPT.exists() else [sys.executable, "-m", "latchfree_cli"]), "check"]
_RUNS = 7


def _etcd(seed: int, lost: float, share: float) -> History:
    """Return a history as Jepsen makes them of etcd; the published ones have stale reads, and more calls lost."""
    recorded = record("cas-register", 80, threads=5, seed=seed, crashes=lost)
    return stale(History(f"etcd_{seed:03}", recorded.operations, "cas-register"), seed, share)


def shell() -> list[Figure]:
    """Whole commands on files of logs, warm: start, reading and judging, in processor time."""
    logs: dict[str, tuple[str, float, list[History]]] = {}
    for kind, lost, share in (
        ("all ok", 0.05, 0.0),
        ("stale reads", 0.05, 0.2),
        ("stale reads, a tenth lost", 0.1, 0.2),
    ):
        logs[f"100 etcd logs, {kind}"] = ("etcd", 1.0, [_etcd(seed, lost, share) for seed in range(100)])
    for clients in (10, 50):
        recorded = record("append-kv", 2_000, threads=clients, keys=10)
        fine = History(f"c{clients}", recorded.operations, "append-kv")
        logs[f"c{clients}-ok"] = ("kv", 1.5, [fine])
        logs[f"c{clients}-bad"] = ("kv", 1.5, [stale(fine, clients, 0.01)])
    figures = []
    with tempfile.TemporaryDirectory() as name:
        for place, (kind, (format_, asked, histories)) in enumerate(logs.items()):
            folder = Path(name) / str(place)
            folder.mkdir()
            files = write_logs(folder, histories, kv_log if format_ == "kv" else jepsen_log)
            out = ["--out", str(folder / "out")]
            ours, printed = processor_seconds([*_COMMAND, *map(str, files), *out], _RUNS)
            if place == 0:
                start, _ = processor_seconds([*_COMMAND, str(files[0]), *out], _RUNS)
                figures.append(Figure("latchfree check of one etcd log, processor time", "s", 0.3, start))
            if not PORCUPINE:
                continue
            theirs, said = processor_seconds(PORCUPINE[0].command(format_, files), _RUNS)
            verdicts = [line.split(": ")[2].split()[0] for line in printed.splitlines() if line.startswith(name)]
            if verdicts != PORCUPINE[0].verdicts(said):
                raise SystemExit(f"{kind}: Porcupine and the command disagree")
            note = f"{ours:.3f} s beside {theirs:.3f} s; {dict(Counter(verdicts))}"
            figures.append(
                Figure(f"{kind}: processor time beside Porcupine's", "times", asked, ours / theirs, note=note)
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


def bounds() -> list[Figure]:
    """How much more memory than allowed each engine takes."""
    figures = []
    for engine in ("auto", "frontier", "wgl", "python"):
        grown, allowed = map(float, _fresh("bound", engine).split())
        figures.append(Figure(f"memory grown by, {engine}, bound {allowed:.0f} MB", "%", 110, 100 * grown / allowed))
    return figures


def compiled() -> Figure:
    """How many functions a second process compiles."""
    _fresh("compile")
    return Figure("functions compiled by a second process", "", 0, float(_fresh("compile")))


def _fresh(task: str, *arguments: str) -> str:
    """Run one of `TASKS` in a fresh process; return what it prints."""
    command = [sys.executable, __file__, "--task", task, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def _peak() -> int:
    """Return the most bytes this program had in memory; getrusage would count what its parent had, too."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def _task_memory() -> str:
    history = record("cas-register", 100_000, threads=8)
    ok(history, "cas-register")
    return str(_peak() / (1 << 20))


def _task_bound(engine: str) -> str:
    from latchfree_lincheck.engine.resident import resident

    bound = 256 << 20
    history = hard(14, 12)
    check(hard(3, 2), "cas-register", engine=engine)  # type: ignore[arg-type]
    before = resident()
    verdict = check(history, "cas-register", engine=engine, memory=bound, timeout=120)  # type: ignore[arg-type]
    if "memory" not in verdict.reason:
        raise SystemExit(verdict.explain())
    grown = _peak() - before
    return f"{grown / (1 << 20)} {bound / (1 << 20)}"


def _task_compile() -> str:
    from numba.core import event

    with event.install_recorder("numba:compile") as recorder:
        for name in ("register", "cas-register", "map", "set", "queue", "stack", "priority-queue", "counter"):
            if name == "counter":
                check(History("c", [Operation(0, "add", (1,), 0, 0, 1)]), name)
                continue
            history = record(name, 200, threads=4)
            for engine in ("auto", "frontier", "wgl"):
                check(history, name, engine=engine)  # type: ignore[arg-type]
    return str(len(recorder.buffer))


TASKS: dict[str, Callable[..., str]] = {"memory": _task_memory, "bound": _task_bound, "compile": _task_compile}

GROUPS: dict[str, Callable[[], Figure | list[Figure]]] = {
    "small": many_small,
    "many": many_at_once,
    "key": one_key,
    "own": own_model,
    "repeats": repeats,
    "keys": many_keys,
    "append": append,
    "shell": shell,
    "monitors": monitors,
    "crashes": crashes,
    "deadline": deadlines,
    "memory": bounds,
    "compile": compiled,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="bench/lincheck.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", metavar="NAMES", help=f"comma-separated, of: {', '.join(GROUPS)}")
    parser.add_argument("--porcupine", metavar="DIR", type=Path, help="the source of Porcupine, to run it beside")
    parser.add_argument("--task", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.task:
        print(TASKS[given.task[0]](*given.task[1:]))
        return 0
    names = list(GROUPS) if given.only is None else given.only.split(",")
    for name in names:
        if name not in GROUPS:
            parser.error(f"--only: no group called {name!r}; there are {', '.join(GROUPS)}")
    console, progress = Console(highlight=False), Console(stderr=True, highlight=False)
    where = report.machine()
    load = ", ".join(f"{load:.1f}" for load in where["load_before"])
    console.print(f"{where['processor']}, {where['processors']} processors, {where['system']}; load before: {load}")
    if given.porcupine is None:
        console.print("skipped Porcupine: --porcupine DIR says where its source is")
    else:
        try:
            PORCUPINE.append(Porcupine(given.porcupine))
        except Unavailable as reason:
            parser.error(f"--porcupine: {reason}")
    missed = 0
    for name in names:
        progress.print(f"measuring {name} ...")
        found = GROUPS[name]()
        for figure in found if isinstance(found, list) else [found]:
            missed += figure.missed
            mark = "MISSED" if figure.missed else "ok"
            sign = ">=" if figure.least else "<="
            text = f"{figure.reached:.3g} {figure.unit} (asked {sign} {figure.asked:g})"
            console.print(f"{figure.name:<55} {text:<42} {mark:<7} {figure.note}", soft_wrap=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
