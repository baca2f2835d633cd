"""What the processes of a crew do in a test; here, since they import it by name."""

import os
import signal
import time
from pathlib import Path


def perform(work):
    """Do what a test asks for."""
    if work == "pid":
        return os.getpid()
    if work == "wrong":
        raise ValueError("no such work")
    if work == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if work == "long":
        time.sleep(3600)
    return work * 2


def nothing():
    """Have nothing to clean."""


def cleaned():
    """Leave a trace."""
    Path(os.environ["LATCHFREE_TEST_TRACE"]).write_text("cleaned")
