"""The columns of a table of operations, as SQL: what `latchfree_spark.frames.packing` reads on workers.

Example: ``arguments`` is the text ``["x", 1]`` in one table and an array of integers in another. Text is JSON already;
anything else becomes JSON here. So workers read text only, and no type of Spark reaches them but those of names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from latchfree_spark.check.tables import KNOWN, TEXT, TIMES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

NAMING: Final = (
    "string",
    "boolean",
    "byte",
    "short",
    "integer",
    "long",
    "date",
    "timestamp",
    "timestamp_ntz",
    "binary",
)
"""Types of the columns that name a history; a decimal, too. Equal values must have equal bytes, so no floats."""

_NEEDED: Final = ("process", "f", "arguments", "result", "invoke", "return")
_PLAIN: Final = ("boolean", "byte", "short", "integer", "long", "float", "double", "decimal", "date")
_NESTED: Final = ("array", "struct", "map", "variant")


def key(number: int) -> str:
    """Return the name under which workers see the column of names with this number."""
    return f"by{number}"


def quoted(name: str) -> str:
    """Return a column's name as SQL."""
    return "`" + name.replace("`", "``") + "`"


def naming(schema: StructType, by: Sequence[str], taken: Sequence[str]) -> StructType:
    """Return the fields of the columns that name a history.

    Raises
    ------
    ValueError
        If one is not there, is of a type whose equal values differ, or has a name that the output needs.
    """
    from pyspark.sql.types import StringType, StructField, StructType

    if not by:
        raise ValueError('by: name the columns that tell histories apart, such as by=["history"]')
    fields = []
    for name in by:
        kind = _type_of(schema, name)
        if kind.typeName() not in (*NAMING, "decimal"):
            raise ValueError(
                f"by: the column {name} is of type {kind.simpleString()}; name histories by text or integers"
            )
        if name in taken:
            raise ValueError(f"by: the output has a column {name} of its own; rename yours")
        fields.append(StructField(name, StringType() if kind.typeName() == "string" else kind))
    if len({field.name for field in fields}) < len(fields):
        raise ValueError(f"by: name each column once, not {', '.join(by)}")
    return StructType(fields)


def canonical(frame: DataFrame, by: Sequence[str], more: Sequence[str] = ()) -> DataFrame:
    """Return a table with the columns `key(0)`, ..., the operation as text and integers, and `more` columns.

    Raises
    ------
    ValueError
        If a column is missing, or of a type that says nothing about an operation.
    """
    schema = frame.schema
    chosen = [f"{_name(schema, name)} AS {key(number)}" for number, name in enumerate(by)]
    for name in KNOWN[1:]:
        if name not in schema.names and name not in _NEEDED:
            chosen.append(f"CAST(NULL AS STRING) AS {quoted(name)}")
        elif name in TIMES:
            chosen.append(f"{_time(schema, name)} AS {quoted(name)}")
        elif name in ("f", "object", "model"):
            chosen.append(f"CAST({quoted(name)} AS STRING) AS {quoted(_checked(schema, name))}")
        else:
            chosen.append(f"{_json(schema, name)} AS {quoted(name)}")
    return frame.selectExpr(*chosen, *map(quoted, more))


assert {*TEXT, *TIMES, "model"} == {*KNOWN[1:]}


def _type_of(schema: StructType, name: str) -> DataType:
    if name not in schema.names:
        raise ValueError(f"the table has no column {name}, only {', '.join(schema.names)}")
    if schema.names.count(name) > 1:
        raise ValueError(f"the table has {schema.names.count(name)} columns {name}; drop all but one")
    return schema[name].dataType


def _name(schema: StructType, name: str) -> str:
    """Return a name of histories; text counts by its bytes, whatever its collation."""
    column = quoted(name)
    return f"CAST({column} AS STRING)" if _type_of(schema, name).typeName() == "string" else column


def _checked(schema: StructType, name: str) -> str:
    kind = _type_of(schema, name)
    if kind.typeName() not in ("string", "void", "byte", "short", "integer", "long"):
        raise ValueError(f"the column {name} must be text, not {kind.simpleString()}")
    return name


def _time(schema: StructType, name: str) -> str:
    """Return an integer; instants are microseconds."""
    kind = _type_of(schema, name)
    column = quoted(name)
    if kind.typeName() in ("byte", "short", "integer", "long", "void"):
        return f"CAST({column} AS BIGINT)"
    if kind.typeName() == "timestamp":
        return f"unix_micros({column})"
    raise ValueError(f"the column {name} must be an integer or a timestamp, not {kind.simpleString()}")


def _json(schema: StructType, name: str) -> str:
    """Return JSON text. In typed columns the result of an operation that returned is JSON's null if it is null.

    A null in a column of text is an unknown result, as in a Parquet file: text can say ``null``.
    """
    kind = _type_of(schema, name)
    column = quoted(name)
    if kind.typeName() == "string":
        return column
    if kind.typeName() in _NESTED:
        text = f"to_json({column}, map('ignoreNullFields', 'false'))"
    elif kind.typeName() == "date":
        text = f"concat('\"', CAST({column} AS STRING), '\"')"
    elif kind.typeName() in (*_PLAIN, "void"):
        text = f"CAST({column} AS STRING)"
    else:
        raise ValueError(f"the column {name} is of type {kind.simpleString()}; make it JSON text")
    if name == "result":
        returned = f"{quoted('return')} IS NOT NULL"
        return f"CASE WHEN {returned} THEN coalesce({text}, 'null') ELSE {text} END"
    return text
