"""Use the functions on tables in a process of its own: ``pipeline_tables.py HISTORIES``; prints rows as JSON."""

import json
import sys

import latchfree_spark
from latchfree_spark import spark_session
from latchfree_spark.errors import SparkTooOld

DDL = (
    "history string, process string, f string, arguments string, result string, invoke bigint, `return` bigint,"
    " object string, model string"
)
PAIRS = [("a/+", "ann"), ("#", "bob")]


def main(file):
    """Judge, match and sketch."""
    with open(file) as lines:  # noqa: PTH123
        records = [json.loads(line) for line in lines]
    texts = ("process", "arguments", "result")
    names = [part.split()[0].strip("`") for part in DDL.split(", ")]
    for record in records:
        record.update({name: json.dumps(record[name]) for name in texts if name in record})
    rows = [tuple(map(record.get, names)) for record in records]
    with spark_session("tests", master="local[2,4]", conf={"spark.sql.shuffle.partitions": "3"}) as spark:
        told = {"version": spark.version}
        ops = spark.createDataFrame(rows, DDL)
        told["check"] = told_rows(latchfree_spark.check(ops, "map", partitions=2).drop("seconds"))
        messages = spark.createDataFrame([("a/b", 1), ("c", 2), ("a/b", 3)], "topic string, number int")
        told["match"] = told_rows(latchfree_spark.match(messages, PAIRS))
        table = spark.createDataFrame(PAIRS, "pattern string, subscriber string")
        found = latchfree_spark.match(messages, table)
        told["table"] = told_rows(found)
        kept = ("messages", "topics", "subscribers", "heavy", "sizes", "fan_outs")
        told["sketch"] = told_rows(
            latchfree_spark.sketch(found, subscribers="subscribers", size="number").select(*kept)
        )
        try:
            latchfree_spark.register(spark)
            ops.createOrReplaceTempView("ops")
            call = "linearizable('map', process, f, arguments, result, invoke, `return`)"
            told["sql"] = told_rows(spark.sql(f"SELECT history, {call} AS verdict FROM ops GROUP BY history"))
            told["function"] = told_rows(spark.sql("SELECT history, verdict FROM check_history(TABLE(ops), 'map')"))
            source = spark.read.format("latchfree").load(file)
            told["source"] = told_rows(source.drop("source", "object", "model"))
        except SparkTooOld as error:
            told["refused"] = str(error)
    print(json.dumps(told))


def told_rows(frame):
    """Return rows in an order that does not depend on Spark."""
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    for row in rows:
        if "number" in row:
            row["subscribers"].sort()
    return sorted(rows, key=json.dumps)


if __name__ == "__main__":
    main(*sys.argv[1:])
