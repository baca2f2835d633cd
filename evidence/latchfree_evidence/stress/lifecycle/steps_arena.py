"""Steps that concern the arena and what is in it."""

from __future__ import annotations

import gc
import os
import pickle
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from latchfree import Arena, ArenaClosed, Ctrie, RingStalled, StructureMissing
from latchfree_evidence.stress.lifecycle import ledger as columns
from latchfree_evidence.stress.lifecycle.ledger import TAKEN
from latchfree_evidence.stress.lifecycle.program import Step
from latchfree_evidence.stress.lifecycle.state import Opening, Process, created, own_name, place
from latchfree_evidence.stress.lifecycle.work import Lost, Writer, contents
from latchfree_fsck import inspect
from latchfree_support.publishing import publish_file


def use(process: Process, step: Step) -> None:
    """Write or read, and compare what was read with what was acknowledged."""
    structure = process.structure(step["on"], step["what"])
    process.main.work(structure, step["what"], step["how"], step["times"])


def open_(process: Process, step: Step) -> None:
    """Open the arena once more; the opening that the slot had is dropped without a close."""
    process.openings[step["on"]] = Opening(Arena.open(process.where))


def close(process: Process, step: Step) -> None:
    """Close an opening, maybe twice."""
    opening = process.openings.pop(step["on"], None)
    if opening is not None:
        opening.arena.close()
        if step["twice"]:
            opening.arena.close()


def drop_opening(process: Process, step: Step) -> None:
    """Drop an opening without closing it."""
    process.openings.pop(step["on"], None)


def pickle_(process: Process, step: Step) -> None:
    """Send a structure to ourselves."""
    structure = process.structure(step["on"], step["what"])
    again = pickle.loads(pickle.dumps(structure))
    opening = process.openings[step["to"]] = Opening(again.arena)
    opening.structures[step["what"]] = again


def send(process: Process, step: Step) -> None:
    """Leave a structure for whoever receives next."""
    blob = pickle.dumps((step["what"], process.structure(step["on"], step["what"])))
    publish_file(process.folder / "mail.pickle", blob, synchronised=False)


def receive(process: Process, step: Step) -> None:
    """Open what another process has sent."""
    what, structure = pickle.loads((process.folder / "mail.pickle").read_bytes())
    opening = process.openings[step["on"]] = Opening(structure.arena)
    opening.structures[what] = structure


def snapshot(process: Process, step: Step) -> None:
    """Take a snapshot: read it, keep it, or begin to iterate over it."""
    what = step["what"]
    structure = process.structure(step["on"], what)
    taken = structure.snapshot() if what == "topics" else structure.readonly_snapshot()
    if step["keep"] == "iterate":
        entries = iter(taken)
        next(entries, None)
        process.kept.append(entries)
        return
    found = contents(taken, what)
    process.main.check(what, found)
    if step["keep"] == "keep":
        process.snapshots.append((structure.arena, taken, what, process.shown(found, what)))


def drop(process: Process, step: Step) -> None:
    """Look at the snapshots once more, and drop them."""
    process.drop_snapshots()
    process.kept.clear()


def clear(process: Process, step: Step) -> None:
    """Clear the own structure."""
    process.main.forget("own", process.structure(step["on"], "own").clear)


def unlink(process: Process, step: Step) -> None:
    """Unlink the own structure, if there is one."""
    row = process.row
    if not row[columns.IS]:
        return
    arena = process.opening(step["on"]).arena
    row[columns.WILL_BE] = 0
    process.main.forget("own", lambda: Ctrie.unlink(arena, own_name(process.who)))
    row[columns.IS] = 0
    process.forget_own()


def visit(process: Process, step: Step) -> None:
    """Read the structures of the other processes."""
    arena = process.opening(step["on"]).arena
    for name in arena.structures():
        if name.startswith("own-"):
            try:
                len(dict(Ctrie.open(arena, name).items()))
            except StructureMissing:
                continue


def side(process: Process, step: Step) -> None:
    """Make another arena, or open the one left here before; write; maybe unlink and close."""
    where = place(process.folder, step["arena"], f"side-{process.who}")
    try:
        arena = created(where)
        trie: Ctrie[int, int] = Ctrie.create(arena, "side", keys=int, values=int)
    except FileExistsError:
        arena = Arena.open(where)
        if "side" not in arena.structures():  # we were killed, or ran out of descriptors, before
            Ctrie.create(arena, "side", keys=int, values=int)
        trie = Ctrie.open(arena, "side", keys=int, values=int)
    trie.update({key: key for key in range(20)})
    if dict(trie.items()) != {key: key for key in range(20)}:
        raise Lost("an arena at the side does not hold what was written")
    if step["unlink"]:
        arena.unlink()
    if step["close"]:
        arena.close()


def ring(process: Process, step: Step) -> None:
    """Put into the ring and take out of it."""
    row, taken = process.row, process.ledger.taken[process.who]
    many = 5 if step["how"] == "many" else 1
    for _ in range(4):
        queue = process.own_ring()
        if queue is None:
            return
        first = int(row[columns.HAS_PUT]) + 1
        values = [process.who << 32 | n for n in range(first, first + many)]
        room = TAKEN - int(row[columns.GOT])
        try:
            row[columns.WILL_PUT] = first + many - 1
            done = int(queue.put_many(values)) if many > 1 else int(queue.try_put(values[0]))
            row[columns.HAS_PUT] += done
            row[columns.WILL_PUT] = row[columns.HAS_PUT]
            if room >= many:
                got = queue.get_many(many) if many > 1 else [queue.try_get()]
                for value in np.array([each for each in got if each is not None], np.int64):
                    taken[int(row[columns.GOT])] = value
                    row[columns.GOT] += 1
        except RingStalled:  # of a process that was stopped or killed; whether the values are in is not known
            row[columns.HAS_PUT] = row[columns.WILL_PUT]
            return
        except ArenaClosed:
            row[columns.WILL_PUT] = row[columns.HAS_PUT]
            process.ring = None


def collect(process: Process, step: Step) -> None:
    """Free what can be freed."""
    arena = process.opening(step["on"]).arena
    arena.adopt()
    arena.collect()


def inspect_(process: Process, step: Step) -> None:
    """Look at the arena from outside."""
    where = process.where
    inspect(name=where) if isinstance(where, str) else inspect(path=where)


def _thread(process: Process, step: Step, writer: Writer, times: int) -> Callable[[], None]:
    structure = process.structure(step["on"], step["what"])

    def body() -> None:
        try:
            writer.work(structure, step["what"], step["how"], times)
        except ArenaClosed:
            return

    return body


def threads(process: Process, step: Step) -> None:
    """Let threads work and end."""
    started = []
    for _ in range(step["count"]):
        writer = process.thread_writer()
        if writer is not None:
            started.append(threading.Thread(target=_thread(process, step, writer, 5)))
            started[-1].start()
    for thread in started:
        thread.join()


def daemon(process: Process, step: Step) -> None:
    """Let daemon threads work until the process ends."""
    for _ in range(step["count"]):
        writer = process.thread_writer()
        if writer is not None:
            threading.Thread(target=_thread(process, step, writer, 1 << 40), daemon=True).start()


def cycle(process: Process, step: Step) -> None:
    """Open the arena, and leave unclosed openings to the garbage collector."""
    gc.set_threshold(step["threshold"])
    for _ in range(step["count"]):
        arena = Arena.open(process.where)
        knot: list[Any] = [arena, Ctrie.open(arena, "ints", keys=int, values=int)]
        knot.append(knot)


def pause(process: Process, step: Step) -> None:
    """Let the others run."""
    time.sleep(step["for"] / 1000)


def unrelated(folder: Path, who: int, number: int) -> int:
    """Open a file that is not ours, and return its descriptor."""
    return os.open(folder / f"precious-{who}-{number}", os.O_RDWR)


ARENA_STEPS: Final[dict[str, Callable[[Process, Step], None]]] = {
    "use": use, "open": open_, "close": close, "drop_opening": drop_opening, "pickle": pickle_, "send": send,
    "receive": receive, "snapshot": snapshot, "drop": drop, "clear": clear, "unlink": unlink, "visit": visit,
    "side": side, "ring": ring, "collect": collect, "inspect": inspect_, "threads": threads, "daemon": daemon,
    "cycle": cycle, "pause": pause,
}  # fmt: skip
