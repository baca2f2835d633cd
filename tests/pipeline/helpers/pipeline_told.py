"""Open a session and print what the session was told, as JSON: ``pipeline_told.py [MASTER [CONF [linger]]]``."""

import json
import sys
import time

from latchfree_spark import spark_session

with spark_session(
    "told", master=(sys.argv[1:2] or [""])[0] or None, conf=json.loads((sys.argv[2:3] or ["{}"])[0])
) as spark:
    context = spark.sparkContext
    told = {"master": context.master, "ui": context.uiWebUrl, **dict(context.getConf().getAll())}
    told["rows"] = spark.range(1000, numPartitions=2).selectExpr("sum(id)").first()[0]
    spark.addArtifacts(__file__, file=True)
    print("TOLD", json.dumps(told), flush=True)
    if "linger" in sys.argv:
        time.sleep(600)
