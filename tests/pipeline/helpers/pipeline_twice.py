"""Work of which two attempts are under way at once: the first one waits for the second.

Spark starts a second attempt at a task that takes long, and lets both run. The folder `TWICE` of the environment has a
file for each role that was taken and for each piece of work that a second attempt has begun.
"""

import os
import time
from pathlib import Path

from pipeline_judges import one_by_one

from latchfree_spark.match.worker import matched
from latchfree_spark.task import attempt

LIMIT = 600.0
_calls = 0
_slow = False


def is_slow(kind):
    """Return whether this worker is the one first attempt of all that waits."""
    try:
        Path(os.environ["TWICE"], f"{kind}-slow").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def wait_for_any(names):
    """Wait until the second attempt has begun one of some pieces of work."""
    end = time.monotonic() + LIMIT
    while not any(Path(os.environ["TWICE"], name).exists() for name in names):
        if time.monotonic() > end:
            Path(os.environ["TWICE"], "late").touch()
            raise TimeoutError("no second attempt came")
        time.sleep(0.05)


def judge(columns, owner, model, options):
    """Judge; the first attempt that comes publishes a chunk, and stops in the next one until it is overtaken."""
    global _calls, _slow
    names = [f"check-{key}" for key in columns.arguments[0].table]
    if attempt():
        for name in names:
            Path(os.environ["TWICE"], name).touch()
    else:
        _slow = _slow or is_slow("check")
        _calls += 1
        if _slow and _calls == 2:
            wait_for_any(names)
    return one_by_one(columns, owner, model, options)


def match(batches, shipped, topic, keep_going):
    """Match; the first attempt that comes stops before its rows until the second has sent some of the same."""
    slow = attempt() == 0 and is_slow("match")
    for batch in matched(batches, shipped, topic, keep_going):
        if slow:
            wait_for_any(["match-second"])
        yield batch
        if attempt():
            Path(os.environ["TWICE"], "match-second").touch()
