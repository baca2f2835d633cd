"""Log files as Jepsen and the users of Porcupine write them, and the processor time of commands that judge them."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from latchfree_lincheck import History, Operation
from latchfree_lincheck.formats.record import dumps, records
from latchfree_model import UNKNOWN

_OF_PYTHON = frozenset({"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"})
_LONG = 2.0
_MODULES = tempfile.TemporaryDirectory()


def jepsen_log(history: History) -> str:
    """Return the history of a cas-register as a log of etcd; a call that never returned has no second line."""
    lines = []
    for operation, ends in _events(history):
        kind, value = "invoke", None
        if operation.f != "read":
            value = operation.arguments if operation.f == "cas" else operation.arguments[0]
        if ends:
            kind = "fail" if operation.f == "cas" and not operation.result else "ok"
            value = operation.result if operation.f == "read" else value
        lines.append(f"INFO  jepsen.util - {operation.process}\t:{kind}\t:{operation.f}\t{_edn(value)}\n")
    return "".join(lines)


def kv_log(history: History) -> str:
    """Return the history of an append-kv as a log of Porcupine's kind."""
    lines = []
    for operation, ends in _events(history):
        key, value = operation.arguments if operation.f != "get" else (operation.arguments[0], None)
        value = operation.result if ends and operation.f == "get" else value
        kind = "ok" if ends else "invoke"
        text = f":type :{kind}, :f :{operation.f}, :key {_edn(key)}, :value {_edn(value)}"
        lines.append(f"{{:process {operation.process}, {text}}}\n")
    return "".join(lines)


def edn(history: History) -> str:
    """Return the history of a cas-register as Jepsen writes it in EDN; a call that never returned has no second map."""
    lines = []
    for index, (operation, ends) in enumerate(_events(history)):
        kind, value = "ok" if ends else "invoke", None
        if operation.f != "read":
            value = operation.arguments if operation.f == "cas" else operation.arguments[0]
        elif ends:
            value = operation.result
        if ends and operation.f == "cas" and not operation.result:
            kind = "fail"
        text = f":type :{kind}, :f :{operation.f}, :value {_edn(value)}, :process {operation.process}"
        lines.append(f"{{{text}, :time {1000 * index}, :index {index}}}\n")
    return "".join(lines)


def json_lines(history: History) -> str:
    """Return a history as JSON Lines."""
    return "".join(f"{dumps(record)}\n" for record in records(history))


def _events(history: History) -> Iterator[tuple[Operation, bool]]:
    """Yield each operation at its invocation, and at its return, in order of time."""
    events = [(operation.invoke, operation, False) for operation in history.operations]
    events += [(each.return_, each, True) for each in history.operations if each.return_ is not None]
    for _, operation, ends in sorted(events, key=lambda event: event[0]):
        yield operation, ends


def _edn(value: Any) -> str:
    if value is None:
        return "nil"
    if isinstance(value, tuple):
        return f"[{' '.join(map(_edn, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def stale(history: History, seed: int, share: float) -> History:
    """Give some of the reads the value that another read returned some ten calls earlier, as a member cut off does."""
    rng = random.Random(seed)
    operations = list(history.operations)
    reads = [i for i, each in enumerate(operations) if each.f in ("read", "get") and each.result is not UNKNOWN]
    for place, i in enumerate(reads):
        if place >= 3 and rng.random() < share:
            same = [j for j in reads[:place] if operations[j].arguments == operations[i].arguments]
            if len(same) >= 3:
                operations[i] = replace(operations[i], result=history.operations[same[-3]].result)
    return History(history.name, operations, history.model_hint)


def processor_seconds(command: Sequence[str], repeats: int) -> tuple[float, str]:
    """Run a command some times; return the least processor time, of user and system, and what it printed.

    A command that takes seconds is run twice.
    Exit codes 0 and 1 are verdicts; any other ends the benchmark. The first run is not counted: it compiles Python's
    modules, which are kept in a folder of this function's own, whatever the environment says.
    """
    found, printed = [], ""
    environment = {name: value for name, value in os.environ.items() if name not in _OF_PYTHON}
    environment["PYTHONPYCACHEPREFIX"] = _MODULES.name
    for _ in range(repeats + 1):
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, env=environment)
            assert process.stderr is not None
            said = process.stderr.read()
            process.stderr.close()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = code = os.waitstatus_to_exitcode(status)
            if code not in (0, 1):
                raise SystemExit(f"{' '.join(command[:4])} ...: exit code {code}: {said.decode()}")
            out.seek(0)
            printed = out.read().decode()
        found.append(used.ru_utime + used.ru_stime)
        if len(found) > 1 and found[-1] > _LONG:
            break
    return min(found[1:]), printed


def write_logs(folder: Path, histories: Sequence[History], text: Any) -> list[Path]:
    """Write each history to a file of its own."""
    files = [folder / f"{history.name}.log" for history in histories]
    for file, history in zip(files, histories, strict=True):
        file.write_text(text(history))
    return files
