"""Judge the histories in a table of operations: a table in, a table out, evaluated when somebody asks for its rows.

Example: a table has the rows of 1,000 histories. The output has 1,000 rows, in any order, each computed by the worker
that got all operations of that history; an operation that is no operation gives its history the verdict ``error``.
No folder is shared with the workers and no file is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_model.models.loading import load_model
from latchfree_model.models.own_files import use_files
from latchfree_spark.check.judge.judging import function_of, unknown_model
from latchfree_spark.check.meters import NOT_COUNTED, Meters
from latchfree_spark.check.options import JUDGE, LINEARIZABILITY, Options, refuse_pieces
from latchfree_spark.frames.columns import canonical, key, naming
from latchfree_spark.frames.judging import ALSO_NAMES
from latchfree_spark.frames.packing import FRAGMENT_DDL, packed
from latchfree_spark.shipping import on_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

OUTPUT: Final = (
    "verdict string, reason string, engine string, operations bigint, states bigint, failing bigint,"
    " object string, key string, witness string, reproduce string, seconds double"
)
"""The columns of verdicts, as Spark writes them."""


def check(
    df: DataFrame,
    model: str | None = None,
    by: Sequence[str] = ("history",),
    *,
    timeout: float = 60.0,
    budget: int | None = None,
    memory: int = 1 << 30,
    saved: int = 10,
    partitions: int | None = None,
    judge: str = JUDGE,
    criterion: str = LINEARIZABILITY,
    py_files: Sequence[str | Path] = (),
) -> DataFrame:
    """Return a table with the verdict on each history of a table of operations.

    Parameters
    ----------
    df : DataFrame
        One row an operation, of any session, Spark Connect included. Columns: those of `by`, ``process, f, arguments,
        result, invoke, return``, and ``object, model`` if there; others are ignored. ``process, arguments, result`` are
        JSON text, or typed columns, which become JSON. A null ``result`` is an unknown one in a column of text, and
        JSON's null in a typed column of an operation that returned. Times are integers or timestamps.
    model : str, optional
        Name of the sequential model, or ``module:Name`` for one of your own; by default that of the column ``model``.
    by : sequence of str
        The columns that name a history, such as ``["run", "history"]``; they come first in the output, with their
        types. Null is a name like any other.
    timeout, budget, memory : float, int or None, int
        Bounds for each history in seconds, steps of the search and bytes; what takes more is ``unknown``.
    saved : int
        How many violations of each partition get a witness.
    partitions : int, optional
        How many tasks judge; by default what Spark chooses.
    judge : str
        Who judges, as ``module:function``; see `latchfree_spark.check.judge.judging.judge`.
    criterion : str
        What is asked of a history: a name of `latchfree_lincheck.criteria.CRITERIA`.
    py_files : sequence of path-like
        Files with modules of your own, which workers need for `model`: ``.py``, ``.zip`` or wheels.

    Returns
    -------
    DataFrame
        One row for each distinct value of `by`, with ``verdict`` (ok, violation, unknown, error), ``reason, engine,
        operations, states``; ``failing``, the place of the operation that no order explains, counted from 0 in order
        of ``invoke``, and the ``object, key`` that it touches, if `by` has no such column; ``witness``, a shrunk
        history as JSON Lines, and ``reproduce``, the command that judges it again; ``seconds``. Nothing runs before its
        rows are asked for.

    Raises
    ------
    ValueError
        If a column is missing or of a type that cannot be one, or the model, the criterion or a file is not known.
    """
    refuse_pieces(partitions=partitions)
    if model is not None and not isinstance(model, str):
        raise TypeError(f"model must be a name, not {model!r}")
    used = use_files(py_files)
    options = Options(
        model, timeout=timeout, budget=budget, memory=memory, saved=saved, judge=judge, criterion=criterion,
        py_files=used,
    )  # fmt: skip
    function_of(judge)  # raises if there is none
    if model is not None:
        load_model(model)  # raises if there is none
    if model is None and "model" not in df.columns:
        raise ValueError(f"{unknown_model(None).replace('--model ', 'model=')}; or add a column model")
    names = naming(df.schema, by, [name for name in output_names() if name not in ALSO_NAMES])
    return verdicts_of(fragments_of(canonical(df, by), names), names, options, partitions)


def output_names() -> list[str]:
    """Return the columns that the output has beside the names of histories."""
    return [column.split(" ")[0] for column in OUTPUT.split(", ")]


def fragments_of(rows: DataFrame, names: StructType) -> DataFrame:
    """Return operations with columns as `canonical` makes them as fragments of histories, named `key(0)`, ..."""
    schema = with_fields(_renamed(names, [key(number) for number in range(len(names))]), FRAGMENT_DDL)
    return rows.mapInArrow(on_workers(rows.sparkSession, f"{packed.__module__}:packed", len(names)), schema)


def verdicts_of(
    fragments: DataFrame, names: StructType, options: Options, partitions: int | None, meters: Meters = NOT_COUNTED
) -> DataFrame:
    """Return the verdicts on fragments; `names` are the columns of the output that name a history."""
    keys = [key(number) for number in range(len(names))]
    dealt = fragments.repartition(*keys) if partitions is None else fragments.repartition(partitions, *keys)
    run: Any = on_workers(
        fragments.sparkSession, "latchfree_spark.frames.judging:judged", options, tuple(names.fieldNames()), meters
    )
    told = ", ".join(column for column in OUTPUT.split(", ") if column.split(" ")[0] not in names.fieldNames())
    return dealt.sortWithinPartitions(*keys).mapInArrow(run, with_fields(names, told))


def _renamed(fields: StructType, names: Sequence[str]) -> StructType:
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(name, field.dataType) for name, field in zip(names, fields.fields, strict=True)])


def with_fields(first: StructType, ddl: str) -> StructType:
    """Return a schema with more columns, which are text, numbers, or lists of them."""
    from pyspark.sql.types import ArrayType, DoubleType, LongType, StringType, StructField, StructType

    kinds = {
        "string": StringType(), "bigint": LongType(), "double": DoubleType(),
        "array<string>": ArrayType(StringType()), "array<bigint>": ArrayType(LongType()),
    }  # fmt: skip
    more = [column.rsplit(" ", 1) for column in ddl.split(", ")]
    return StructType([*first.fields, *(StructField(name.strip("`"), kinds[kind]) for name, kind in more)])
