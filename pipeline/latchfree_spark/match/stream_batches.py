"""Write the batches of a stream, each once, with the subscriptions that are current when it begins.

Example: a worker dies in the midst of batch 7. What it wrote is in a hidden folder; Spark hands batch 7 out again, with
the same files, and its folder appears by a rename. A crash after the rename hands it out once more, and it is there.

Invariant: ``batch=N`` has as many rows as were read for batch N, and these are as many as its files have. All rows of a
batch are matched with one version of the index, whose name they hold.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.errors import ClusterError
from latchfree_spark.match.batch import kind_of
from latchfree_spark.match.blame import blamed, first_defect, first_defect_of
from latchfree_spark.match.checkpoint import files_of, replaced
from latchfree_spark.match.claim import BATCH
from latchfree_spark.match.errors import BadSubscriptions
from latchfree_spark.match.ship import Shipped, ship
from latchfree_spark.match.source import Source
from latchfree_spark.match.strict import refuse_ambiguous
from latchfree_spark.match.table import SubscriptionTable
from latchfree_spark.match.writing import write_matches
from latchfree_support.publishing import published_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from latchfree.topics import MaskIndex

INDEX: Final = "index"
LIST: Final = "_batch.json"
"""The files of a batch with their sizes, and its counts."""


@dataclass
class Progress:
    """The counts of a stream since its start.

    Parameters
    ----------
    batches, messages, matches, bad : int
        Batches and messages, pairs of message and subscriber, and messages without a valid topic.
    indexes : list of str
        The versions of the index in use, in order.
    replaced : list of str
        Files that were written again after they were read: what they hold now was not matched.
    rate : float
        Messages a second in the last batch.
    """

    batches: int = 0
    messages: int = 0
    matches: int = 0
    bad: int = 0
    indexes: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    rate: float = 0.0


class Batches:
    """The batches of one stream, from its start to its end."""

    def __init__(
        self,
        spark: SparkSession,
        table: SubscriptionTable,
        source: Source,
        out: Path,
        keep_going: bool,
        warn: Callable[[str], None],
        report: Callable[[Progress], None],
    ) -> None:
        self.spark = spark
        self.table = table
        self.source = source
        self.out = out
        self.keep_going = keep_going
        self.warn = warn
        self.report = report
        self.progress = Progress()
        self.failure: Exception | None = None
        self.file = ""
        self.index: MaskIndex
        self.shipped: Shipped
        for left in (out / "matches").glob(".latchfree-*.tmp"):
            shutil.rmtree(left)

    @property
    def checkpoint(self) -> Path:
        """Spark's notes."""
        return self.out / "_checkpoint"

    def look_back(self) -> None:
        """Name the files that were written again after they were read."""
        for each in replaced(self.checkpoint):
            if each.path not in self.progress.replaced:
                self.progress.replaced.append(each.path)
                self.warn(
                    f"{each.path} was written again after it was read, and what it holds now is not in the output;"
                    f" give new files new names"
                )

    def take(self, index: MaskIndex, identity: Any) -> None:
        """Put an index into use, and remove the files of earlier versions."""
        kind = kind_of(index)
        if hasattr(self, "index") and kind != kind_of(self.index):
            raise BadSubscriptions(f"{identity.path}: subscribers were {kind_of(self.index)} and now are {kind}")
        self.shipped = ship(self.spark, index, self.out / "_index")
        self.index = index
        self.file = identity.path
        for old in (self.out / "_index").glob("*.index"):
            if str(old) != self.shipped.path:
                old.unlink()

    def look(self) -> None:
        """Take the current subscriptions; keep the subscriptions in use if the current ones are malformed."""
        try:
            newer = self.table.newer()
            if newer is not None:
                self.take(*newer)
        except Exception as error:
            self.warn(f"the subscriptions in use stay: {error}")

    def each(self, batch: DataFrame, number: int) -> None:
        """Write one batch, unless it exists."""
        try:
            self.write(batch, number)
        except ClusterError as error:
            self.failure = error
            raise
        except Exception as error:
            with suppress(Exception):
                self.failure = blamed(error, lambda: self.place(batch, number))
            self.failure = self.failure or error
            raise

    def place(self, batch: DataFrame, number: int) -> str | None:
        """Return the place of the first row of a batch that is no message."""
        source, dialect = self.source, self.index.dialect
        if not source.format:
            return first_defect(self.spark, source.of(self.spark, files_of(self.checkpoint, number)), dialect)
        frame = source.prepared(batch)
        found = first_defect_of(self.spark, frame, source.messages.topic, dialect)
        return found and f"{source.format} {source.address}, batch {number:,}: {found}".replace(" ,", ",")

    def write(self, batch: DataFrame, number: int) -> None:
        """Match a batch and publish it by a rename."""
        final = self.out / "matches" / f"{BATCH}={number}"
        if final.exists():
            if is_complete(final):
                return
            self.warn(f"{final} is incomplete and is written again")
            shutil.rmtree(final)
        started = time.monotonic()
        self.look()
        source = self.source
        messages = source.of(self.spark, [] if source.format else files_of(self.checkpoint, number))
        if messages.files:
            refuse_ambiguous(self.spark, messages)
        expected = None if source.select else messages.total
        final.parent.mkdir(exist_ok=True)
        with published_folder(final) as part:
            counts = write_matches(
                source.prepared(batch), self.shipped, kind_of(self.index), messages.topic, part,
                keep_going=self.keep_going, constants={INDEX: self.shipped.version}, expected=expected,
            )  # fmt: skip
            sizes = {file.name: file.stat().st_size for file in part.glob("*.parquet")}
            (part / LIST).write_text(json.dumps({**asdict(counts), INDEX: self.shipped.version, "files": sizes}))
            self.name_index(number)
        done = self.progress
        done.batches, done.messages = done.batches + 1, done.messages + counts.messages
        done.matches, done.bad = done.matches + counts.matches, done.bad + counts.bad
        done.rate = counts.messages / max(time.monotonic() - started, 1e-9)
        self.report(done)

    def name_index(self, number: int) -> None:
        """Note the version of the index where it is new, before rows that name it appear."""
        version = self.shipped.version
        if self.progress.indexes[-1:] != [version]:
            self.progress.indexes.append(version)
            with (self.out / "_indexes.jsonl").open("a") as file:
                file.write(json.dumps({"index": version, "file": self.file, "batch": number}) + "\n")


def is_complete(folder: Path) -> bool:
    """Return whether a batch has all files that its list names, each of its size."""
    try:
        sizes = json.loads((folder / LIST).read_text())["files"]
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, LookupError, TypeError):
        return False
