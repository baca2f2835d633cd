"""The judge of one program: looks at the arena after the processes have ended.

Two looks, in processes of their own. While the bystander still has the arena open and programs without the arena rest,
`look_at_life` opens the arena and compares its contents with the ledger. When everybody has ended,
`look_at_remains` has fsck check and repair the arena, opens the arena again, and compares once more. What the first
look found allocated and the second did not was kept by the dead.
"""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from latchfree import Arena, ConcurrentTrie, Ctrie, RingStalled
from latchfree_evidence.stress.lifecycle import ledger as columns
from latchfree_evidence.stress.lifecycle.ledger import ABSENT, KEYS, LANES, PROCESSES, STRUCTURES, Ledger
from latchfree_evidence.stress.lifecycle.program import Program
from latchfree_evidence.stress.lifecycle.state import CODECS, PRECIOUS, RING_FILE, own_name, place
from latchfree_evidence.stress.lifecycle.work import contents, name_of
from latchfree_fsck import fsck

KEPT_BYTES: Final = 96 << 10
"""Bytes that killed processes may have leaked, and that the machinery takes."""
_CHURN: Final = 600
_COLLECTIONS: Final = 6
_MOST_WRONG: Final = 5

FIRST_LOOK, SECOND_LOOK = "look-1.json", "look-2.json"


@dataclass(frozen=True)
class Finding:
    """What must not be.

    Attributes
    ----------
    kind : str
        "signal", "hang", "exception", "complaint", "loss", "memory", "damage", "opening" or "file".
    text : str
        In words.
    """

    kind: str
    text: str


def look_at_life(folder: Path, program: Program) -> None:
    """Open the arena beside the bystander, compare, and let memory come back; write the findings."""
    ledger = Ledger(folder / "ledger")
    arena = Arena.open(place(folder, program["arena"]))
    findings = [Finding("loss", text) for text in _differences(arena, ledger)]
    findings += [Finding("loss", text) for text in _ring(folder, ledger)]
    texts: Ctrie[str, str] = Ctrie.open(arena, "texts", **CODECS["texts"])
    for turn in range(_CHURN):
        texts[f"churn {turn}"] = "x" * 200
        del texts[f"churn {turn}"]
    for _ in range(_COLLECTIONS):
        arena.adopt()
        arena.collect()
    _report(folder / FIRST_LOOK, findings, arena.allocated)
    arena.close()
    os._exit(0)


def look_at_remains(folder: Path, program: Program) -> None:
    """Check, repair and open the arena that everybody has left; write the findings."""
    where = place(folder, program["arena"])
    at: dict[str, Any] = {"name": where} if isinstance(where, str) else {"path": where}
    report = fsck(**at)
    findings = [Finding("damage", text) for text in report.damage]
    allocated = 0
    if not findings:
        repaired = fsck(**at, repair=True)
        again = fsck(**at)
        if not (repaired.repaired and again.clean):
            findings.append(Finding("damage", f"not clean after a repair: {again.damage + again.faults}"))
        with Arena.open(where) as arena:
            differences = _differences(arena, Ledger(folder / "ledger"))
            findings += [Finding("loss", f"after a repair: {text}") for text in differences]
            allocated = arena.allocated
    _report(folder / SECOND_LOOK, findings, allocated)
    os._exit(0)


def _report(path: Path, findings: list[Finding], allocated: int) -> None:
    path.write_text(json.dumps({"findings": [asdict(each) for each in findings[:_MOST_WRONG]], "allocated": allocated}))


def conclusions(folder: Path) -> Iterator[Finding]:
    """Yield what the two looks have found, and compare what they found allocated."""
    allocated = []
    for name in (FIRST_LOOK, SECOND_LOOK):
        if not (folder / name).exists():
            continue  # the process that looked has died, which was noted
        report = json.loads((folder / name).read_text())
        yield from (Finding(**each) for each in report["findings"])
        allocated.append(report["allocated"])
    if len(allocated) == 2 and allocated[1] and allocated[0] - allocated[1] > KEPT_BYTES:
        yield Finding("memory", f"{allocated[0] - allocated[1]:,} bytes of {allocated[0]:,} are kept for nobody")


def _differences(arena: Arena, ledger: Ledger) -> list[str]:
    """Return how the contents differ from what was acknowledged, a line each."""
    found = []
    for at, what in enumerate(STRUCTURES[:3]):
        opened: Any = ConcurrentTrie.open(arena, what) if what == "topics" else Ctrie.open(arena, what, **CODECS[what])
        held = contents(opened, what)
        for who in range(PROCESSES):
            found += _differences_of(held, what, who, ledger.acknowledged[who, at], ledger.intended[who, at])
        found += [f"{what}: nobody wrote {key!r}" for key in held if not str(key).startswith("churn ")]
    structures = arena.structures()
    at = STRUCTURES.index("own")
    for who in range(PROCESSES):
        name, row = own_name(who), ledger.rows[who]
        if name in structures:
            if not row[columns.IS] and not row[columns.WILL_BE]:
                found.append(f"{name} exists, and was unlinked")
                continue
            held = contents(Ctrie.open(arena, name, **CODECS["own"]), "own")
            found += _differences_of(held, "own", who, ledger.acknowledged[who, at], ledger.intended[who, at])
        elif row[columns.IS] and row[columns.WILL_BE]:
            found.append(f"{name} is missing")
    return found


def _differences_of(held: dict[Any, int], what: str, who: int, acknowledged: Any, intended: Any) -> list[str]:
    found = []
    for lane in range(LANES):
        for key in range(KEYS):
            name = name_of(what, who, lane, key)
            value = held.pop(name, ABSENT)
            known = int(acknowledged[lane, key]), int(intended[lane, key])
            if value not in known:
                found.append(f"{what}: key {name!r} is {value:#x}, acknowledged {known[0]:#x}, intended {known[1]:#x}")
    return found


def _ring(folder: Path, ledger: Ledger) -> list[str]:
    """Return what is wrong with the values that were taken from the ring, and with those that are left there."""
    if not (folder / RING_FILE).exists():
        return []
    ring = pickle.loads((folder / RING_FILE).read_bytes())
    values = ledger.taken[ledger.taken > 0].tolist()
    with suppress(RingStalled):  # a cell of a process that was killed
        values += ring.get_many(1 << 10).tolist()
    found = [f"ring: {value:#x} came out twice" for value in set(values) if values.count(value) > 1]
    for value in values:
        row = ledger.rows[value >> 32] if value >> 32 < PROCESSES else None
        if row is None or value & 0xFFFF_FFFF > max(row[columns.WILL_PUT], row[columns.HAS_PUT]):
            found.append(f"ring: {value:#x} came out and was not put in")
    return found


#: What the interpreter says of a signal that came just before the handler was taken away, as happens when it ends.
_RACE: Final = re.compile(r"OSError: Signal \d+ ignored due to race condition")

#: What `logging` says at a fork if a handler raised before the hook had the lock that the next hook gives back.
_LOGGING: Final = re.compile(
    r", in _(?:releaseLock|afterFork)\n(?: {4}.*\n)*RuntimeError: cannot release un-acquired lock\n*\Z"
)


def complaints(text: str, *, exits: bool) -> Iterator[Finding]:
    """Yield what Python has complained about on standard error.

    Parameters
    ----------
    text : str
        Everything that the processes wrote to standard error.
    exits : bool
        The program raises SystemExit in a signal handler, which may be in the midst of a finalizer.
    """
    for part in re.split(r"^(?=Exception ignored|Traceback|Fatal Python error)", text, flags=re.MULTILINE):
        if not part.startswith(("Exception ignored", "Traceback", "Fatal Python error")):
            continue
        lines = [line for line in part.splitlines()[1:] if line and not line.startswith(" ")]
        last = lines[0] if lines else ""
        if part.startswith("Exception ignored") and not last:
            continue  # its traceback is the next part
        if exits and (last.startswith("SystemExit") or _LOGGING.search(part)):
            continue
        if _RACE.fullmatch(last):
            continue
        kind = "loss" if ".Lost:" in last else "complaint"
        yield Finding(kind, f"{part.splitlines()[0]} ... {last}".strip())


def unrelated_files(folder: Path) -> Iterator[Finding]:
    """Yield the files that are not ours and have changed; empty ones were never written."""
    for path in sorted(folder.glob("precious-*")):
        if path.read_bytes() not in (PRECIOUS, b""):
            yield Finding("file", f"an unrelated file has {path.stat().st_size:,} bytes instead of {len(PRECIOUS)}")


Look = Callable[[Path, Program], None]
