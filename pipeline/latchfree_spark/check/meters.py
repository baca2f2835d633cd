"""Count what workers do while a job runs: Spark's accumulators bring the counts to the driver when a task ends.

The counts are for people who watch. A task that runs twice counts twice, so no verdict and no account depends on them;
see `latchfree_spark.check.reports`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.shipping import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Meters:
    """Accumulators, or None each where there are none: Spark Connect, and outside Spark.

    Parameters
    ----------
    histories, operations, unknown : Accumulator, optional
        What was judged, and how many histories could not be decided.
    retries : Accumulator, optional
        Tasks that were begun again because their worker died, hung or failed.
    """

    histories: Any = None
    operations: Any = None
    unknown: Any = None
    retries: Any = None

    @classmethod
    def of(cls, spark: SparkSession) -> Meters:
        """Make the accumulators of a job."""
        if is_remote(spark):
            return cls()
        return cls(*(spark.sparkContext.accumulator(0) for _ in range(4)))

    def began(self, attempt: int) -> None:
        """Count an attempt at a task that is not the first."""
        if self.retries is not None and attempt > 0:
            self.retries.add(1)

    def judged(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Count the rows of a chunk."""
        if self.histories is not None:
            self.histories.add(len(rows))
            self.operations.add(sum(row["operations"] for row in rows))
            self.unknown.add(sum(row["verdict"] == "unknown" for row in rows))

    @property
    def count(self) -> int:
        """How many histories were judged, as far as anybody counts."""
        return 0 if self.histories is None else int(self.histories.value)

    def told(self, seconds: float) -> str:
        """Return the counts for a line of progress, "" where there are none."""
        count = self.count
        if not count:
            return ""
        unknown, retries = self.unknown.value, self.retries.value
        parts = [
            f"{count:,} histories, {self.operations.value:,} operations, {count / max(seconds, 0.001):,.0f} a second"
        ]
        parts += [f"{unknown:,} unknown"] if unknown else []
        parts += [f"tasks begun again: {retries:,}"] if retries else []
        return ", ".join(parts)


NOT_COUNTED: Final = Meters()
"""No accumulators."""


def remaining(seconds: float, done: int, total: int) -> str:
    """Return how long the rest of the work takes at the speed so far, for a line of progress; "" if nobody knows."""
    left = seconds / done * (total - done) if done > 0 else 0.0
    return f"{left:,.0f} s left" if left > 0 else ""
