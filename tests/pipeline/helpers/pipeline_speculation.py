"""A driver whose tasks are attempted twice at once: ``pipeline_speculation.py MASTER FOLDER``; prints two totals."""

import json
import sys
from contextlib import nullcontext
from pathlib import Path

from latchfree.topics import MaskIndex
from latchfree_model.models.own_files import use_files
from latchfree_spark import spark_session
from latchfree_spark.check import Options, check_files
from latchfree_spark.match import find, match_messages, worker

CONF = {
    "spark.executor.memory": "512m",
    "spark.cores.max": "2",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.0",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.efficiency.enabled": "false",
}


def main(master, folder):
    """Check the histories and match the messages of a folder."""
    folder = Path(folder)
    use_files(Path(__file__).with_name(name) for name in ("pipeline_judges.py", "pipeline_twice.py"))
    really = worker.on_workers
    worker.on_workers = lambda spark, function, *arguments: really(spark, "pipeline_twice:match", *arguments)
    with spark_session("tests", master=master, conf=CONF | {"spark.executorEnv.TWICE": str(folder / "twice")}) as spark:
        options = Options("map", judge="pipeline_twice:judge", saved=1)
        checked = check_files(
            [folder / "histories"], folder / "out", options, chunks=8, partitions=2,
            open_session=lambda: nullcontext(spark),
        )  # fmt: skip
        index = MaskIndex.build(["a/+", "#"], ["ann", "bob"], "mqtt")
        done = match_messages(spark, index, find(str(folder / "messages")), folder / "matched")
    print(json.dumps({"histories": checked.histories, "messages": done.messages}))


if __name__ == "__main__":
    main(*sys.argv[1:])
