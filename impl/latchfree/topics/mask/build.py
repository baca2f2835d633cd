"""Building the arrays of a mask index from columns of patterns and subscribers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree.extras import optional
from latchfree.topics import rules
from latchfree.topics.columns import check_texts, text_column
from latchfree.topics.dialects import Dialect
from latchfree.topics.errors import InvalidPattern
from latchfree.topics.mask.border import MASK
from latchfree.topics.mask.byte_classes import class_table, eight
from latchfree.topics.mask.groups import choose_groups
from latchfree.topics.mask.kernels import records, table
from latchfree.topics.mask.kernels.trie import Trie

pa: Any = optional("pyarrow", "topics")
pc: Any = optional("pyarrow.compute", "topics")


def byte_column(column: Any) -> tuple[int, NDArray[np.int64], Any]:
    """Return the address of the bytes of an Arrow string array, its offsets, and the array that keeps both alive."""
    large = column.cast(pa.large_string())
    _, offsets, data = large.buffers()
    if offsets is None or offsets.size == 0:
        return 0, np.zeros(1, np.int64), large
    found = np.frombuffer(offsets, np.int64, large.offset + len(large) + 1)[large.offset :]
    return (data.address if data is not None else 0), found, large


def arrays_of(
    patterns: Any, subscribers: NDArray[np.int64], dialect: Dialect, most_groups: int
) -> dict[str, NDArray[Any]]:
    """Return the arrays of an index.

    Raises
    ------
    InvalidPattern
        If a pattern breaks a rule of the dialect; the error names the row.
    """
    column = text_column(patterns, "patterns")
    if len(column) != len(subscribers):
        raise ValueError(f"there are {len(column):,} patterns and {len(subscribers):,} subscribers")
    check_texts(dialect, column, patterns=True)
    filters = _filters(column, dialect)
    encoded = filters.dictionary_encode()
    different = encoded.dictionary.cast(pa.large_string())
    which = encoded.indices.to_numpy().astype(np.int64)
    order = np.argsort(which, kind="stable")
    row_at = np.concatenate([[0], np.cumsum(np.bincount(which, minlength=len(different)))]).astype(np.int64)
    address, offsets, alive = byte_column(different)
    classes = class_table(dialect, patterns=True)
    masks = np.empty(len(different), np.uint64)
    depths = np.empty(len(different), np.int64)
    suspicious = np.empty(len(different), np.uint8)
    one, many = np.uint64(ord(dialect.one)), np.uint64(ord(dialect.many))
    separators = eight(dialect.separator)
    MASK.scan_patterns(address, offsets, classes.ctypes.data, separators, one, many, masks, depths, suspicious)
    lengths = np.diff(offsets)
    suspicious |= lengths > min(dialect.longest, dialect.most_words)
    _judge(column, which, suspicious, dialect)
    groups, group_of = choose_groups(masks, depths, dialect.least, most_groups)
    small = len(subscribers) == 0 or (subscribers.min() >= -(2**31) and subscribers.max() < 2**31)
    width = 4 if small else 8
    sizes = records.HEAD + width * np.diff(row_at) + lengths
    sizes = (sizes + 3) & ~np.int64(3)
    at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if at[-1] >= 1 << 34:
        raise ValueError(f"the patterns need {at[-1]:,} bytes, and an index holds {1 << 34:,}; split them into several")
    held = np.zeros(at[-1], np.uint8)
    MASK.write_records(address, offsets, group_of, row_at, subscribers[order], width, at[:-1], held)
    names = at[:-1] // 4 + 1
    probed = int(np.count_nonzero(group_of != records.IN_TRIE))
    entries = np.zeros(max(probed + 1, int(probed * table.SLACK)), np.uint64)  # a probe ends at a free place
    filter_ = np.zeros(max(1, -(-probed * table.FILTER // 64)), np.uint64)
    MASK.fill_table(
        address, offsets, group_of, groups.masks, groups.depths, names, classes.ctypes.data,
        separators, entries, filter_,
    )  # fmt: skip
    rest = np.flatnonzero(group_of == records.IN_TRIE)
    text_at = at[:-1][rest] + records.HEAD + width * np.diff(row_at)[rest]
    trie = _trie(held, text_at, lengths[rest], names[rest], classes, dialect)
    del alive
    return {
        "masks": groups.masks,
        "depths": groups.depths.astype(np.int8),
        "exact_at": groups.exact_at.astype(np.int8),
        "open_to": groups.open_to.astype(np.int8),
        "filter": filter_,
        "entries": entries,
        "records": held,
        "width": np.array([width], np.int8),
        **{f"trie_{name}": array for name, array in trie._asdict().items()},
    }


def _filters(column: Any, dialect: Dialect) -> Any:
    """Return the patterns without the share names of MQTT, which do not matter to matching."""
    if not dialect.shares:
        return column
    shared = pc.starts_with(column, dialect.share_prefix)
    if not pc.any(shared).as_py():
        return column
    plain = column.to_pylist()
    for row in np.flatnonzero(shared.to_numpy(zero_copy_only=False)):
        try:
            dialect.pattern(plain[row])
        except InvalidPattern as error:
            raise error.at_row(int(row)) from None
        plain[row] = plain[row][rules.filter_start(plain[row], dialect.separator) :]
    return pa.array(plain, column.type)


def _judge(column: Any, which: NDArray[np.int64], suspicious: NDArray[np.uint8], dialect: Dialect) -> None:
    """Let the dialect judge the suspicious patterns, at the first row of each; the other patterns are valid."""
    suspects = np.flatnonzero(suspicious)
    if not len(suspects):
        return
    first = np.full(len(suspicious), len(which), np.int64)
    np.minimum.at(first, which, np.arange(len(which)))
    for row in np.sort(first[suspects]):
        try:
            dialect.pattern(column[int(row)].as_py())
        except InvalidPattern as error:
            raise error.at_row(int(row)) from None


def _trie(
    held: NDArray[np.uint8],
    text_at: NDArray[np.int64],
    lengths: NDArray[np.int64],
    names: NDArray[np.int64],
    classes: NDArray[np.uint8],
    dialect: Dialect,
) -> Trie:
    room = int(lengths.max()) + 1 if len(lengths) else 1
    most = int(np.minimum(lengths + 1, dialect.most_words).sum())
    nodes = most + 2
    edges = 2 * most + 2
    trie = Trie(
        keys=np.zeros(edges, np.uint64),
        child=np.zeros(edges, np.uint32),
        word=np.zeros(edges, np.uint64),
        size=np.zeros(edges, np.uint32),
        one=np.zeros(nodes, np.uint32),
        many=np.zeros(nodes, np.uint32),
        name=np.zeros(nodes, np.uint32),
        loops=np.zeros(nodes, np.uint8),
        inner=np.zeros(1, np.int64),
    )
    one, many = np.uint64(ord(dialect.one)), np.uint64(ord(dialect.many))
    used = MASK.grow(
        trie, held.ctypes.data, held.ctypes.data + len(held), text_at, lengths, names,
        classes.ctypes.data, eight(dialect.separator), one, many, room,
    )  # fmt: skip
    return trie._replace(**{name: getattr(trie, name)[:used] for name in ("one", "many", "name", "loops")})
