"""``latchfree arena``: look into an arena, check and repair it, and dump its entries."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer
from rich.table import Table

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    import latchfree_fsck as checker


class Place(TypedDict, total=False):
    """The arguments that say where an arena is: one of the two."""

    name: str
    path: str


Where = Annotated[str, typer.Argument(metavar="WHERE", help="A path, or a name in shared memory.")]


@examples(
    "latchfree arena info ./prices.arena",
    "latchfree arena info prices",
)
def info(settings: Settings, where: Where) -> Outcome:
    """Describe an arena, without disturbing its users."""
    from latchfree_fsck import inspect

    with _errors():
        found = inspect(**_locate(where))
    settings.say(_summary(found))
    if found.structures:
        settings.say(_structures(found))
    if found.participants:
        settings.say(_participants(found))
    for line in _holding_up(found):
        settings.say(line)
    return Outcome("ok", asdict(found))


@examples(
    "latchfree arena fsck prices.arena",
    "latchfree arena fsck prices.arena --repair",
)
def fsck(
    settings: Settings,
    where: Where,
    repair: Annotated[
        bool, typer.Option("--repair", help="Make everything free that no structure reaches, and seal the arena.")
    ] = False,
) -> Outcome:
    """Check every structure and every word of an arena that nobody has open.

    Exit code 1 means damage. --repair returns leaked memory; damaged entries are never repaired.
    """
    import latchfree_fsck as package

    with settings.progress(f"fsck {where}") as report, _errors():
        result = package.fsck(**_locate(where), repair=repair, progress=report)
    for line in _findings(result):
        settings.say(line)
    payload = {**asdict(result), "leaked_bytes": result.leaked, "clean": result.clean}
    if result.sound:
        return Outcome("ok", payload)
    again = ["latchfree", "arena", "fsck", where, *([] if result.damage else ["--repair"])]
    return Outcome("violation", payload, reproduce=shlex.join(again))


@examples(
    "latchfree arena dump prices.arena map",
    "latchfree arena dump prices.arena map --output backup.parquet",
)
def dump(
    settings: Settings,
    where: Where,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="The structure, if there are several.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE.parquet", help="Write a backup instead of JSON lines.")
    ] = None,
) -> Outcome:
    """Print the entries of a structure as JSON lines, as they are at one instant; of a topic trie, its subscriptions.

    Pickled and other binary keys and values that are no plain JSON are printed as base64.
    """
    if settings.json and output is None:
        raise exits.Stop(exits.USAGE, "the entries are JSON lines already: use --json with --output only")
    from latchfree import Arena
    from latchfree.ctrie.backup import recorded, save
    from latchfree.ctrie.store import Store
    from latchfree.sketches.common.shapes import RECORDS
    from latchfree.structures import RING_BUFFER, TOPIC_TRIE, name_of
    from latchfree_cli import arena_dump

    with _errors():
        place = _locate(where)
        chosen = _whole(place, where, name)
        with Arena.open(place["name"] if "name" in place else Path(place["path"])) as arena:
            entry = arena.directory.find(chosen)
            if entry.kind in RECORDS or entry.kind == RING_BUFFER:
                raise exits.Stop(exits.USAGE, _no_entries(chosen, name_of(entry.kind)))
            if entry.kind == TOPIC_TRIE:
                with settings.progress(f"dump {chosen}") as report:
                    count = arena_dump.subscriptions(arena, chosen, output, report)
                return _dumped(settings, chosen, count, output)
            store = Store(arena, entry.root, recorded(entry.keys), recorded(entry.values), entry.hash_mask)
            with settings.progress(f"dump {chosen}") as report:
                hold = store.hold()
                if output is not None:
                    count = save(store, hold, output, lambda done: report(f"dump {chosen}: {done:,} entries"))
                else:
                    count = arena_dump.entries(store, store.entries(hold), report, chosen)
            del hold
    return _dumped(settings, chosen, count, output)


def _no_entries(name: str, kind: str) -> str:
    if kind == "RingBuffer":
        return f"structure {name!r} is a ring: to print its values is to take them; in Python, use RingBuffer.open"
    if kind == "RateLimiter":
        return f"structure {name!r} is a rate limiter: it has no entries; in Python, RateLimiter.open(arena, {name!r})"
    return (
        f"structure {name!r} is a sketch: it has no items to print, only what is known of them; "
        f"in Python, {kind}.open(arena, {name!r}).to_bytes() is what it holds"
    )


def _dumped(settings: Settings, name: str, count: int, output: Path | None) -> Outcome:
    if output is not None:
        settings.note(f"{count:,} entries of {name} in {output}")
    return Outcome("ok", {"structure": name, "entries": count, "output": None if output is None else str(output)})


def _locate(where: str) -> Place:
    """Return the name or the path of an arena: a name in shared memory, unless `where` can only be a path."""
    if "/" in where:
        return {"path": where}
    from latchfree.arena.files import locate

    try:
        named = locate(name=where).exists()
    except ValueError:
        named = False
    return {"path": where} if not named and Path(where).exists() else {"name": where}


@contextmanager
def _errors() -> Iterator[None]:
    """End the command where the arena cannot be used."""
    from latchfree.errors import ArenaFull, ArenaInvalid, ParticipantsExhausted, StructureMissing

    try:
        yield
    except (ArenaInvalid, StructureMissing) as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    except (ArenaFull, ParticipantsExhausted) as error:
        raise exits.Stop(exits.INCONCLUSIVE, str(error)) from None
    except ValueError as error:
        if type(error) is not ValueError:
            raise
        raise exits.Stop(exits.USAGE, str(error)) from None


# info --------------------------------------------------------------------------------------------------------------


def _size(count: int) -> str:
    return f"{count:,} bytes"


def _summary(found: "checker.Inspection") -> Table:
    state = "in use" if found.in_use else "closed" if found.sealed else "not closed: its users were killed"
    table = Table(show_header=False)
    for what, text in (
        ("arena", found.where),
        ("state", state),
        ("layout", f"version {found.version}"),
        ("capacity", _size(found.capacity)),
        ("used", f"{_size(found.used)} (given to participants so far)"),
        ("allocated", f"{_size(found.allocated)} (in nodes)"),
        ("waiting", f"{found.waiting:,} retired nodes or trees"),
        ("epoch", f"{found.epoch:,}"),
        ("generation", f"{found.generation:,}"),
    ):
        table.add_row(what, text)
    return table


def _structures(found: "checker.Inspection") -> Table:
    table = Table("structure", "keys", "values")
    table.add_column("entries", justify="right")
    table.add_column("kind")
    for structure in found.structures:
        entries = f"not counted ({structure.why})" if structure.entries is None else f"{structure.entries:,}"
        table.add_row(structure.name, structure.keys, structure.values, entries, structure.kind)
    return table


def _participants(found: "checker.Inspection") -> Table:
    table = Table("slot", "process", "", "pinned in epoch")
    table.add_column("waiting", justify="right")
    for each in found.participants:
        pinned = "" if each.pinned is None else f"{each.pinned:,}"
        state = "alive" if each.alive else "dead"
        table.add_row(str(each.slot), str(each.process), state, pinned, f"{each.waiting:,}")
    return table


def _holding_up(found: "checker.Inspection") -> Iterator[str]:
    for holder in found.holders:
        since = "" if holder.seconds is None else f", for {holder.seconds:,.1f} s"
        yield (
            f"held back: epoch {found.epoch:,}, by process {holder.process} ({holder.state}, opening "
            f"{holder.identity:#x}), pinned in epoch {holder.epoch:,}{since}"
        )
    for each in found.unfinished:
        name = "a structure" if each.name is None else f"structure {each.name!r}"
        process = "a process that takes no part" if each.process is None else f"process {each.process}"
        yield f"being {each.what}: {name}, by {process} ({each.state}, opening {each.identity:#x})"


# fsck --------------------------------------------------------------------------------------------------------------


def _findings(result: "checker.Report") -> Iterator[str]:
    for structure in result.structures:
        if structure.damage is None:
            yield f"{structure.name}: whole, {structure.entries:,} entries in {_size(8 * structure.words)}"
    for damage in result.damage:
        yield f"damaged: {damage}"
    if result.damage:
        yield "nothing was changed; restore the arena from a backup (Ctrie.load)"
        return
    for fault in result.faults:
        yield f"{'was' if result.repaired else 'to repair'}: {fault}"
    memory = result.memory
    if memory is not None:
        yield (
            f"of {_size(8 * memory.given)} given: {8 * memory.reached:,} reached ({8 * result.snapshots:,} of them for "
            f"snapshots), {8 * memory.free:,} free, {8 * memory.waiting:,} waiting to be freed, {8 * memory.leaked:,} "
            f"leaked in {memory.pieces:,} pieces"
        )
    if result.repaired:
        yield "repaired: everything that no structure reaches is free"
    elif result.clean:
        yield "clean"
    elif result.sound:
        yield "sound; --repair gives back what has leaked"


# dump --------------------------------------------------------------------------------------------------------------


def _whole(place: Place, where: str, name: str | None) -> str:
    """Return the structure to dump; check it first if nobody is using the arena, because reading trusts its links."""
    from latchfree_fsck import inspect

    structures = {each.name: each for each in inspect(**place, counted_bytes=1 << 62).structures}
    known = ", ".join(structures) or "none"
    if name is None:
        if len(structures) != 1:
            raise exits.Stop(exits.USAGE, f"{where}: name one of its structures: {known}")
        name = next(iter(structures))
    if name not in structures:
        raise exits.Stop(exits.USAGE, f"{where}: no structure is called {name!r}; there are: {known}")
    if structures[name].why.startswith("damaged"):
        raise exits.Stop(exits.USAGE, f"{where}: structure {name!r} is {structures[name].why}")
    return name
