"""Keep the table of verdicts at a URI: what is judged already, and by what.

``OUT/verdicts/date=YYYY-MM-DD/run=NAME``  one row a history; `OPTIONS` says what judged it
``OUT/failing/date=YYYY-MM-DD/run=NAME``   the operations of violations, a bounded number in each run
``OUT/page/date=YYYY-MM-DD/run=NAME``      a page about a run that found something; see `pages`
``OUT/summary.json/run=NAME``              a line of JSON for each run that ended

The invariant: a run writes to folders of its own. Spark moves what tasks have finished to its place at the end of a
job, all of it that is in the folder; what a run left there that was killed before that end would come with the next
run, and these histories would have two rows. In a folder of its own nobody moves it, and nobody reads it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.check.options import JobRefused, Options
from latchfree_spark.check.tables import KNOWN, TIMES
from latchfree_spark.frames.checking import OUTPUT
from latchfree_spark.frames.reading import BY
from latchfree_spark.hadoop import literally, reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OPTIONS: Final = "options"
"""The column that says what judged a history, as JSON."""

DIGEST: Final = "digest"
"""The column with a number that tells the operations of a history from others, in whatever order."""

_DECIDING: Final = ("model", "criterion", "timeout", "budget", "memory", "judge")
_DDL: Final = ", ".join([*(f"{name} string" for name in BY), OUTPUT, f"{DIGEST} bigint", f"{OPTIONS} string"])

_FAILING: Final = ", ".join(f"`{name}` {'bigint' if name in TIMES else 'string'}" for name in ("source", *KNOWN))


def deciding(options: Options) -> dict[str, Any]:
    """Return the options that decide a verdict: a history is known only if it was judged with the same ones."""
    chosen = {name: getattr(options, name) for name in _DECIDING} | {"timeout": float(options.timeout)}
    chosen |= {"join": True} if options.join else {}
    return chosen | {"py_files": [[Path(file).name, digest] for file, digest in options.py_files]}


class Table:
    """The table of verdicts at a URI, as one run sees and extends it.

    Parameters
    ----------
    spark : SparkSession
    out : str
        The folder that holds the table.
    date : str
        The part of the table that this run writes.
    options : Options
    """

    def __init__(self, spark: SparkSession, out: str, date: str, options: Options) -> None:
        self._spark = spark
        self._out = out
        self.verdicts = f"{out}/verdicts"
        self._part = f"date={date}/run=r{secrets.token_hex(8)}"  # a letter first: else readers take some for numbers
        self._options = deciding(options)
        self.known = 0
        """How many rows `refuse_others` has found."""

    def rows(self, *columns: str) -> DataFrame:
        """Return the table as it is now."""
        from pyspark.errors import AnalysisException

        try:
            table = reader(self._spark).schema(f"{_DDL}, date string, run string").parquet(literally(self.verdicts))
            _ = table.schema  # Spark Connect looks for the path now, and not at the read
        except AnalysisException as error:
            if "PATH_NOT_FOUND" not in str(error):
                raise
            table = self._spark.createDataFrame([], _DDL).where("false")  # which Spark knows to be empty
        return table.select(*columns)

    def refuse_others(self) -> None:
        """Count the rows; raise if one was judged with other options: it would count as known, though it is not."""
        from pyspark.sql import functions as F

        mine = json.dumps(self._options, sort_keys=True)
        theirs = F.coalesce(F.col(OPTIONS), F.lit("{}"))
        found: Any = self.rows(OPTIONS).agg(F.count(F.lit(1)), F.min(F.when(theirs != mine, theirs))).first()
        self.known, other = found
        if other is None:
            return
        before = json.loads(other)
        raise JobRefused(
            f"{self._out}: its verdicts were made with {_told(before, self._options)}, and this job has"
            f" {_told(self._options, before)}: choose another OUT for these, or take the options of the table"
        )

    def append(self, verdicts: DataFrame) -> None:
        """Add rows; a file of them appears whole or not at all."""
        from pyspark.sql import functions as F

        marked = verdicts.withColumn(OPTIONS, F.lit(json.dumps(self._options, sort_keys=True)))
        marked.write.mode("append").parquet(f"{self.verdicts}/{self._part}")

    def append_failing(self, operations: DataFrame) -> None:
        """Add the operations of violations."""
        operations.write.mode("append").parquet(f"{self._out}/failing/{self._part}")

    def failing(self) -> DataFrame:
        """Return the operations of violations that this run has added."""
        return reader(self._spark).schema(_FAILING).parquet(literally(f"{self._out}/failing/{self._part}"))

    @property
    def page(self) -> str:
        """Where this run has its page, and the files that the page names."""
        return f"{self._out}/page/{self._part}"

    def append_run(self, run: Mapping[str, Any]) -> None:
        """Add the line of a run that has ended."""
        text = json.dumps({"format": "latchfree-check-run", "version": 1, **run})
        line = self._spark.createDataFrame([(text,)], "value string").coalesce(1)
        line.write.mode("append").text(f"{self._out}/summary.json/{self._part.rpartition('/')[2]}")


def _told(options: Mapping[str, Any], others: Mapping[str, Any]) -> str:
    """Return what a set of options has that another one has not."""
    told = [f"{name} {json.dumps(value)}" for name, value in sorted(options.items()) if others.get(name) != value]
    return ", ".join(told) or ("options that it does not name" if not options else "none of them")
