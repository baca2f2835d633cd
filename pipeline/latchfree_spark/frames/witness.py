"""Witnesses: small histories that show why a history is not linearizable, as text of JSON Lines.

Example: the witness of a history of 300 operations has three: two puts, and the get that saw the first. For a criterion
other than linearizability the witness is the whole history, since nothing shrinks these.

To shrink a history takes up to seconds, so a partition shrinks so many of its violations, for so long, and only
histories that are not too long to be copied. Every violation has its verdict whatever becomes of its witness; where one
of these limits has cost the witness, the reason of the row says so.
"""

from __future__ import annotations

import time
from typing import Final

from latchfree_spark.check.judge import shrinking
from latchfree_spark.check.judge.batch import Batch
from latchfree_spark.check.judge.judging import Row, model_of
from latchfree_spark.check.judge.saving import command
from latchfree_spark.check.judge.shrinking import NotShrunk, shrunk
from latchfree_spark.check.judge.single import lines
from latchfree_spark.check.options import LINEARIZABILITY, Job, Options

SECONDS: Final = 60.0
"""Seconds that a partition may shrink histories for."""

LONGEST: Final = 20_000
"""Operations of a history that gets a witness, at most."""


class Witnesses:
    """The witnesses that a partition can still afford.

    Parameters
    ----------
    options : Options
        ``saved`` is how many histories are shrunk.
    """

    def __init__(self, options: Options) -> None:
        self._left = options.saved
        self._seconds = SECONDS

    def show(self, batch: Batch, number: int, row: Row, job: Job) -> None:
        """Put witness and command into the row of a violation, or the limit that has cost them into the reason."""
        row["witness"] = row["reproduce"] = None
        if row["verdict"] != "violation" or self._left <= 0:
            return
        self._left -= 1
        begun = time.monotonic()
        try:
            row["witness"] = self._of(batch, number, job)
            row["reproduce"] = command("-", job.options)
        except NotShrunk as why:
            row["reason"] += f"; no witness: {why}"
        finally:
            self._seconds -= time.monotonic() - begun

    def _of(self, batch: Batch, number: int, job: Job) -> str:
        if batch.bounds[number + 1] - batch.bounds[number] > LONGEST:
            raise NotShrunk(f"it has more than {LONGEST:,} operations")
        if job.options.criterion != LINEARIZABILITY:
            return "".join(lines(batch, number, model_of(batch, number, job)))
        if self._seconds <= 0:
            raise NotShrunk(f"the witnesses of its partition took {SECONDS:g} s already")
        return shrunk(batch, number, job, min(shrinking.SECONDS, self._seconds))
