"""Judges whose workers are killed, are slow, publish twice, or write where the driver does not look: ``judge_SEED``."""

import os
import random
import signal
import time
from pathlib import Path

from pipeline_judges import one_by_one

from latchfree_spark.check.judge import chunks
from latchfree_spark.task import attempt

_publish = chunks.publish_rows


def _hidden(rows, folder, chunk):
    """Publish as a worker does that has a disk of its own at that path."""
    _publish(rows, f"{folder}.hidden", chunk)


def _twice(rows, folder, chunk):
    """Publish as two attempts at once do."""
    _publish(rows, folder, chunk)
    _publish(rows, folder, chunk)


def _slowly(rows, folder, chunk):
    time.sleep(0.3)
    _publish(rows, folder, chunk)


def _once(publish):
    """Return a function that publishes once so, since Spark gives a worker other jobs later."""

    def publish_once(*arguments):
        chunks.publish_rows = _publish
        publish(*arguments)

    return publish_once


def __getattr__(name):
    """Make the judge of a seed."""
    seed = name.removeprefix("judge_")
    if not seed.isdecimal():
        raise AttributeError(name)

    def judge(columns, owner, model, options):
        rng = random.Random(f"{seed} {attempt()} {len(owner)} {columns.f.codes.sum()} {columns.invoke.sum()}")
        what = rng.choices(["nothing", "kill", "slow", "hide", "twice"], [6, 2, 1, int(seed) % 3, 1])[0]
        if what == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        chunks.publish_rows = _once({"hide": _hidden, "twice": _twice, "slow": _slowly}.get(what, _publish))
        return one_by_one(columns, owner, model, options)

    return judge


def was_hidden(folder):
    """Return whether a worker wrote where the driver does not look."""
    return Path(f"{folder}.hidden").exists()
