"""Whole commands on files of logs, beside a program made of Porcupine."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from judging.figure import PORCUPINE, Figure
from judging.logs import edn, jepsen_log, json_lines, kv_log, processor_seconds, stale, write_logs
from judging.recorded import record
from latchfree_lincheck import History

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
    for clients, asked in ((10, 2.0), (50, 1.5)):  # of 17 ms on 10 clients' log, 12 are the start of Python
        recorded = record("append-kv", 2_000, threads=clients, keys=10)
        fine = History(f"c{clients}", recorded.operations, "append-kv")
        logs[f"c{clients}-ok"] = ("kv", asked, [fine])
        logs[f"c{clients}-bad"] = ("kv", asked, [stale(fine, clients, 0.01)])
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
    return figures + _other_formats()


def _other_formats() -> list[Figure]:
    """The same histories in EDN and in JSON Lines, beside the logs; and a long file of JSON Lines."""
    histories = [_etcd(seed, 0.05, 0.2) for seed in range(100)]
    figures = []
    with tempfile.TemporaryDirectory() as name:
        found = {}
        for kind, text in (("logs", jepsen_log), ("EDN", edn), ("JSON Lines", json_lines)):
            folder = Path(name) / kind.replace(" ", "-")
            folder.mkdir()
            command = [*_COMMAND, *map(str, write_logs(folder, histories, text)), "--out", str(folder / "out")]
            found[kind], printed = processor_seconds(command, _RUNS)
            if kind == "logs":
                continue
            note = f"{found[kind]:.3f} s beside {found['logs']:.3f} s, {printed.count(': violation')} violations"
            figures.append(
                Figure(f"100 histories of etcd in {kind}", "times", 2.0, found[kind] / found["logs"], note=note)
            )
        for model, keys in (("register", 1), ("map", 100)):
            file = Path(name) / f"{model}.jsonl"
            file.write_text(json_lines(record(model, 100_000, threads=8, keys=keys)))
            spent, _ = processor_seconds([*_COMMAND, str(file), "--model", model], _RUNS)
            note = f"{file.stat().st_size / 1e6:.0f} MB"
            figures.append(Figure(f"100,000 operations of a {model} in JSON Lines", "s", 0.4, spent, note=note))
    return figures
