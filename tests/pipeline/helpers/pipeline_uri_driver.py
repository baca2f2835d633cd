"""A driver of a job on URIs, to be killed: ``pipeline_uri_driver.py INPUT OUT ROUNDS``."""

import sys

from latchfree_spark import spark_session
from latchfree_spark.check import Options
from latchfree_spark.frames.uris import check_uris


def main(source, out, rounds):
    """Run one job; print how many histories there are, and how many were known."""
    conf = {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
        "spark.sql.shuffle.partitions": "3",
    }
    with spark_session("tests", master="local[2,4]", conf=conf) as spark:
        run = check_uris(spark, [source], out, Options("map", saved=2), rounds=int(rounds))
    print(run.histories, run.known)


if __name__ == "__main__":
    main(*sys.argv[1:])
