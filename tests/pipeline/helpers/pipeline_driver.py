"""A driver in a process of its own, to be killed: ``pipeline_driver.py MASTER INPUT OUT JUDGE CHUNKS``."""

import sys

from latchfree_spark import spark_session
from latchfree_spark.check import Options, check_files
from latchfree_spark.check.options import JUDGE


def main(master, source, out, judge, chunks):
    """Run one job; print how many histories have which verdict."""
    conf = {"spark.executor.memory": "512m", "spark.cores.max": "2"} if master.startswith("spark://") else {}
    summary = check_files(
        [source],
        out,
        Options("map", judge=judge or JUDGE, saved=1),
        chunks=int(chunks),
        open_session=lambda: spark_session("tests", master=master, conf=conf),
    )
    print(summary.verdicts)


if __name__ == "__main__":
    main(*sys.argv[1:])
