"""Frequent items and quantiles by the package datasketches, for a Spark without functions for them.

Example: messages of two windows are in three partitions. Each task makes the sketches of the two windows of its
partition, six rows in all. A shuffle brings the rows of a window together, and a second task unites them. So no message
is shuffled, and a task holds the sketches of its windows, however many messages there are.

The columns and their bytes are as Spark's own functions make them (`by_spark`). A window is known by its start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from latchfree.extras import require
from latchfree_spark.shipping import on_workers
from latchfree_spark.sketch.bounds import QUANTILES, RANKS, TRACKED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SLOTS: Final = (4 * TRACKED // 3 - 1).bit_length()
"""Binary logarithm of the slots of frequent items: three quarters of them can be taken."""

ITEMS: Final = pa.struct(
    {"sketch": pa.binary(), "maxItemsTracked": pa.int32(), "itemDataType": pa.string(), "itemDataTypeDDL": pa.string()}
)
SKETCHES: Final = {"heavy_items": ITEMS, "sizes_kll": pa.binary(), "fan_outs_kll": pa.binary()}
ESTIMATES: Final = {
    "heavy": pa.list_(pa.struct([("item", pa.string()), ("count", pa.int64())])),
    "sizes": pa.list_(pa.int64()),
    "fan_outs": pa.list_(pa.int64()),
}
_ITEMS: Final = "struct<sketch: binary, maxItemsTracked: int, itemDataType: string, itemDataTypeDDL: string>"
_SKETCHES: Final = f"heavy_items {_ITEMS}, sizes_kll binary, fan_outs_kll binary"
_ESTIMATES: Final = "heavy array<struct<item: string, count: bigint>>, sizes array<bigint>, fan_outs array<bigint>"


def accumulated(frame: DataFrame, heavy: int) -> DataFrame:
    """Return the sketches of the windows of messages, and what they estimate, one row for each ``start``."""
    spark = frame.sparkSession
    kind = frame.select("start").schema[0].dataType.simpleString()
    messages = frame.select("start", "topic", "size", "fan_out")
    parts = messages.mapInArrow(on_workers(spark, f"{__name__}:of_messages"), f"start {kind}, {_SKETCHES}")
    return _united(parts.repartition("start"), kind, heavy)


def combined(windows: DataFrame, heavy: int) -> DataFrame:
    """Return the union of the sketches of windows, and what it estimates: one row, whose ``start`` is null."""
    from pyspark.sql import functions as F

    rows = windows.select(F.lit(None).cast("timestamp").alias("start"), *SKETCHES)
    return _united(rows.coalesce(1), "timestamp", heavy)


def _united(parts: DataFrame, kind: str, heavy: int) -> DataFrame:
    work = on_workers(parts.sparkSession, f"{__name__}:of_sketches", heavy)
    return parts.mapInArrow(work, f"start {kind}, {_SKETCHES}, {_ESTIMATES}")


class Sketches:
    """The sketches of a window."""

    def __init__(self) -> None:
        self._module = require("datasketches", "spark")
        self.topics = self._module.frequent_strings_sketch(_SLOTS)
        self.sizes = self._module.kll_items_sketch(RANKS)
        self.fan_outs = self._module.kll_items_sketch(RANKS)

    def add(self, messages: Any) -> None:
        """Add the messages of a record batch."""
        for each in messages["topic"].value_counts().to_pylist():
            self.topics.update(each["values"], each["counts"])
        for sketch, name in ((self.sizes, "size"), (self.fan_outs, "fan_out")):
            for value in messages[name].drop_null().to_pylist():
                sketch.update(value)

    def merge(self, row: dict[str, Any]) -> None:
        """Add other sketches, given as bytes."""
        kinds = self._module
        self.topics.merge(kinds.frequent_strings_sketch.deserialize(row["heavy_items"]["sketch"]))
        for sketch, name in ((self.sizes, "sizes_kll"), (self.fan_outs, "fan_outs_kll")):
            sketch.merge(kinds.kll_items_sketch.deserialize(row[name], kinds.PyLongsSerDe()))

    def row(self) -> dict[str, Any]:
        """Return the sketches as bytes."""
        longs = self._module.PyLongsSerDe()
        return {
            "heavy_items": {
                "sketch": self.topics.serialize(),
                "maxItemsTracked": TRACKED,
                "itemDataTypeDDL": "item string not null",
            },
            "sizes_kll": self.sizes.serialize(longs),
            "fan_outs_kll": self.fan_outs.serialize(longs),
        }

    def estimates(self, heavy: int) -> dict[str, Any]:
        """Return the topics that are certainly more frequent than what is miscounted, and the quantiles."""
        certain = self._module.frequent_items_error_type.NO_FALSE_POSITIVES
        found = self.topics.get_frequent_items(certain)
        return {
            "heavy": [{"item": item, "count": count} for item, count, *_ in found[:heavy]],
            "sizes": _quantiles(self.sizes),
            "fan_outs": _quantiles(self.fan_outs),
        }


def _quantiles(sketch: Any) -> list[int] | None:
    """Return the quantiles that a sketch estimates, null if it has seen nothing."""
    return None if sketch.is_empty() else [sketch.get_quantile(rank, True) for rank in QUANTILES]


def of_messages(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the sketches of the messages of a partition, a row for each window."""
    windows: dict[int | None, Sketches] = {}
    kind = None
    for batch in batches:
        kind = batch.schema.field("start").type
        for start, messages in _by_window(batch):
            windows.setdefault(start, Sketches()).add(messages)
    if kind is not None:
        rows = [sketches.row() for sketches in windows.values()]
        yield _batch(list(windows), kind, rows, SKETCHES)


def of_sketches(batches: Iterable[Any], heavy: int) -> Iterator[Any]:
    """Yield the union of the sketches of each window, and what it estimates."""
    windows: dict[int | None, Sketches] = {}
    kind = None
    for batch in batches:
        kind = batch.schema.field("start").type
        for start, rows in _by_window(batch):
            into = windows.setdefault(start, Sketches())
            for row in rows.to_pylist():
                into.merge(row)
    if kind is not None:
        rows = [sketches.row() | sketches.estimates(heavy) for sketches in windows.values()]
        yield _batch(list(windows), kind, rows, SKETCHES | ESTIMATES)


def _by_window(batch: Any) -> Iterator[tuple[int | None, Any]]:
    """Yield each start of a window, as a number, and the rows that have it."""
    if not batch.num_rows:
        return
    encoded = batch["start"].cast(pa.int64()).dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order], prepend=-2))
    starts = encoded.dictionary.to_pylist()
    for low, high in zip(cuts, [*cuts[1:], len(order)], strict=True):
        code = int(codes[order[low]])
        rows = batch.drop_columns("start").take(pa.array(order[low:high]))
        yield None if code < 0 else starts[code], rows


def _batch(starts: list[int | None], kind: Any, rows: list[dict[str, Any]], columns: dict[str, Any]) -> Any:
    """Return rows as a record batch."""
    arrays = [pa.array(starts, pa.int64()).cast(kind)]
    arrays += [pa.array([row[name] for row in rows], kind) for name, kind in columns.items()]
    return pa.RecordBatch.from_arrays(arrays, names=["start", *columns])
