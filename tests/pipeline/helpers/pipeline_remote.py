"""A driver that hands tables to a server of Spark Connect: ``pipeline_remote.py ADDRESS FILE``; prints what it got."""

import json
import sys

import latchfree_spark
from latchfree_spark import needs, shipping, spark_session, workers
from latchfree_spark.check import Options
from latchfree_spark.frames.uris import check_uris


def main(address, file):
    """Ask for the verdicts in every way; workers of the server have nothing of ours."""
    with spark_session("tests", master=address) as spark:
        latchfree_spark.register(spark)
        ops = spark.read.format("latchfree").load(file)
        told = {"files": verdicts(latchfree_spark.check(ops, "map"))}
        ops.createOrReplaceTempView("ops")
        told["aggregate"] = verdicts(
            spark.sql(
                "SELECT history, linearizable('map', process, f, arguments, result, invoke, `return`) AS verdict"
                " FROM ops GROUP BY history"
            )
        )
        told["function"] = verdicts(spark.sql("SELECT * FROM check_history(TABLE(ops), 'map')"))
        messages = spark.createDataFrame([("a/b",), ("c",)], "topic string")
        found = latchfree_spark.match(messages, [("a/+", "ann"), ("#", "bob")])
        told["match"] = {row["topic"]: sorted(row["subscribers"]) for row in found.collect()}
        told["sketch"] = latchfree_spark.sketch(found, subscribers="subscribers").collect()[0]["subscribers"]
        runs = [check_uris(spark, [f"file://{file}"], f"file://{file}.out", Options("map")) for _ in range(2)]
        told["nights"] = [(run.histories, run.known, run.page) for run in runs]
        told["differs"] = refused(ops)
        print(json.dumps(told))


def refused(ops):
    """Return what is said where the workers' numba is not the driver's: the call is well, its rows are not."""
    really = needs.here()
    shipping.here = lambda: {**really, "numba": "0.1.2"}
    try:
        verdicts(latchfree_spark.check(ops, "map"))
    except Exception as error:
        return workers.explained(str(error))
    return "nothing"


def verdicts(frame):
    """Return verdicts by history."""
    return {row["history"]: row["verdict"] for row in frame.collect()}


if __name__ == "__main__":
    main(*sys.argv[1:])
