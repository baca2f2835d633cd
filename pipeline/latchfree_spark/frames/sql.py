"""Functions for SQL: `linearizable` in an aggregation, and the table function `check_history`.

Both judge one history at a time, which costs more than `check`: that judges all histories of a batch together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from latchfree_spark import versions
from latchfree_spark.check.judge.judging import Row
from latchfree_spark.check.options import Options
from latchfree_spark.check.tables import KNOWN
from latchfree_spark.frames.checking import OUTPUT, with_fields
from latchfree_spark.frames.columns import key
from latchfree_spark.frames.judging import verdicts
from latchfree_spark.frames.packing import packed
from latchfree_spark.frames.source import data_source
from latchfree_spark.frames.witness import Witnesses
from latchfree_spark.shipping import on_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AGGREGATE: Final = "linearizable"
TABLE: Final = "check_history"

_COLUMNS: Final = KNOWN[1:]
_TIMES: Final = ("invoke", "return")


def register(spark: SparkSession) -> None:
    """Let SQL of a session judge histories, and the session read their files.

    - ``linearizable(model, process, f, arguments, result, invoke, return)``, an aggregate: the verdict of a group.
    - ``check_history(TABLE(ops), model)``, a table function: a row for each value of the column ``history``.
    - ``spark.read.format("latchfree")``, a data source: files of histories; see `latchfree_spark.frames.source`.

    ``process``, ``arguments`` and ``result`` are JSON text or integers, as `latchfree_spark.frames.check` takes them.
    A session may be given again; other sessions of the application do not see what is registered.

    Raises
    ------
    SparkTooOld
        If this Spark has no Python data sources or no table functions, before 4.0; nothing is registered.
    """
    from pyspark.errors import AnalysisException

    versions.require("register", versions.TABLE_FUNCTIONS, versions.of(spark), "latchfree_spark.check(df) works here")
    spark.udf.register(AGGREGATE, _aggregate(spark))
    spark.udtf.register(TABLE, _table_function(spark))
    try:
        spark.dataSource.register(data_source(spark))
    except AnalysisException as error:
        if "DATA_SOURCE_ALREADY_EXISTS" not in str(error):
            raise
        # Spark has asked the active session: another one, which has the data source. This makes ours the active one.
        spark.createDataFrame([], "nothing int")
        spark.dataSource.register(data_source(spark))


def _aggregate(spark: SparkSession) -> Any:
    """Return the aggregate: Arrow arrays in where this PySpark can, series of pandas elsewhere."""
    from pyspark.sql import functions as F

    judge: Any = on_workers(spark, f"{__name__}:of_columns")

    def linearizable(model, process, f, arguments, result, invoke, return_):  # type: ignore[no-untyped-def]
        return next(judge((model, process, f, arguments, result, invoke, return_)))

    names = linearizable.__code__.co_varnames[: linearizable.__code__.co_argcount]
    if hasattr(F, "arrow_udf"):
        linearizable.__annotations__ = {**dict.fromkeys(names, pa.Array), "return": str}
        return F.arrow_udf(linearizable, "string")
    import pandas as pd  # type: ignore[import-untyped]
    from pyspark.sql.pandas import functions

    linearizable.__annotations__ = {**dict.fromkeys(names, pd.Series), "return": str}
    make: Any = functions.pandas_udf
    return make(linearizable, "string")


def of_columns(columns: Sequence[Any]) -> Iterator[str]:
    """Yield the verdict on one history, given as the columns of `linearizable`."""
    arrays = [each if isinstance(each, pa.Array) else pa.Array.from_pandas(each) for each in columns]
    row = judged(dict(zip(("model", *_COLUMNS[:6]), arrays, strict=True)))
    yield row["verdict"]


def judged(given: dict[str, Any], saved: int = 0) -> Row:
    """Return the verdict on one history, given as arrays by name."""
    count = len(given["f"])
    columns = {key(0): pa.array([0] * count, pa.int64())}
    for name in _COLUMNS:
        kind = pa.int64() if name in _TIMES else pa.string()
        values = given.get(name, pa.nulls(count, kind))
        if name == "result" and not pa.types.is_string(values.type) and not pa.types.is_large_string(values.type):
            known = values.cast(kind)
            pending = given["return"].is_null()
            values = pa.array(
                [
                    text if text is not None or open_ else "null"
                    for text, open_ in zip(known.to_pylist(), pending.to_pylist(), strict=True)
                ],
                kind,
            )
        columns[name] = values.cast(kind)
    batch = pa.RecordBatch.from_pydict(columns)
    (fragments,) = packed([batch], 1)
    options = Options(saved=saved)
    return verdicts(pa.Table.from_batches([fragments]), [0], options, Witnesses(options))[0]


def _table_function(spark: SparkSession) -> Any:
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    judge: Any = on_workers(spark, f"{__name__}:of_rows")
    fields = with_fields(StructType([]), OUTPUT).fields

    class CheckHistory:
        """Gathers the rows of one history and judges it; asks Spark itself to bring these rows together."""

        def __init__(self) -> None:
            self._rows: list[Any] = []
            self._model: str | None = None

        @staticmethod
        def analyze(ops, model=None):  # type: ignore[no-untyped-def]
            from pyspark.sql.types import StructType
            from pyspark.sql.udtf import AnalyzeResult, PartitioningColumn

            if not ops.isTable or "history" not in ops.dataType.names:
                raise ValueError(
                    "check_history needs TABLE(ops) with a column history, and a model: "
                    "SELECT * FROM check_history(TABLE(ops), 'map')"
                )
            schema = StructType([ops.dataType["history"], *fields])
            return AnalyzeResult(schema=schema, partitionBy=[PartitioningColumn("history")])

        def eval(self, ops, model=None):  # type: ignore[no-untyped-def]
            self._rows.append(ops.asDict())
            self._model = model

        def terminate(self):  # type: ignore[no-untyped-def]
            if self._rows:
                yield next(judge((self._rows, self._model)))

    return F.udtf(CheckHistory)


def of_rows(given: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the verdict on the rows of one history, and a model, as `check_history` returns it."""
    rows, model = given
    arrays = {}
    for name in _COLUMNS:
        if name in rows[0]:
            arrays[name] = pa.array([_plain(row[name]) for row in rows])
    if model is not None:
        arrays["model"] = pa.array([model] * len(rows))
    row = judged(arrays, saved=1)
    yield (rows[0]["history"], *(row[column.split(" ")[0]] for column in OUTPUT.split(", ")))


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value
