"""Print or save the entries of a structure of an arena, as JSON lines or a table."""

import base64
import io
import json
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_cli import exits
from latchfree_cli.settings import Report

if TYPE_CHECKING:
    from latchfree import Arena
    from latchfree.ctrie.store import Store

_STEP: Final = 10_000
"""Entries between two updates of the progress line."""


class _Plain(pickle.Unpickler):
    """Loads pickles that name no class and no function, so that an arena from elsewhere does no harm."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name}")


def _plain(stored: bytes) -> Any:
    value = _Plain(io.BytesIO(stored)).load()
    if json.loads(json.dumps(value, allow_nan=False)) != value:
        raise ValueError("no plain JSON")
    return value


def _shower(codec: str) -> Callable[[Any], Any]:
    """Return the function that turns an encoded key or value of a codec into JSON values."""
    if codec == "int":
        return lambda stored: stored
    if codec == "str":
        return lambda stored: stored.decode(errors="replace")
    if codec == "json":
        return json.loads

    def binary(stored: bytes) -> Any:
        return {"base64": base64.b64encode(stored).decode()}

    def pickled(stored: bytes) -> Any:
        try:
            return _plain(stored)
        except Exception:
            return binary(stored)

    return pickled if codec == "pickle" else binary


def entries(store: "Store", entries: Iterator[tuple[Any, Any]], report: Report, name: str) -> int:
    """Print keys and values, and return how many."""
    show_key, show_value = _shower(store.keys.name), _shower(store.values.name)
    return _print(({"key": show_key(key), "value": show_value(value)} for key, value in entries), report, name)


def subscriptions(arena: "Arena", name: str, output: Path | None, report: Report) -> int:
    """Print the subscriptions of a topic trie, or write them to a Parquet file, and return how many."""
    from latchfree.topics import ConcurrentTrie
    from latchfree_support.publishing import publish_file

    snapshot = ConcurrentTrie.open(arena, name).snapshot()
    if output is None:
        return _print(
            (
                {
                    "pattern": each.pattern,
                    "subscriber": _text(each.subscriber),
                    "queue": each.queue,
                    "number": each.number,
                }
                for each in snapshot
            ),
            report,
            name,
        )
    import pyarrow as pa
    import pyarrow.parquet as pq

    held = list(snapshot)
    columns = {field: [getattr(each, field) for each in held] for field in ("pattern", "subscriber", "queue", "number")}
    try:
        table = pa.table(columns)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        text = f"the subscribers of {name!r} are of several types, which no column takes: dump it as JSON lines"
        raise exits.Stop(exits.USAGE, text) from None
    publish_file(output, lambda file: pq.write_table(table, file))
    return len(held)


def _text(subscriber: object) -> object:
    return {"base64": base64.b64encode(subscriber).decode()} if isinstance(subscriber, bytes) else subscriber


def _print(lines: Iterator[dict[str, object]], report: Report, name: str) -> int:
    count = 0
    for count, line in enumerate(lines, start=1):
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
        if count % _STEP == 0:
            report(f"dump {name}: {count:,} entries")
    sys.stdout.flush()
    return count
