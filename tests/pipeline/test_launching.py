"""A virtual machine that was being launched when Ctrl-C was pressed does not live on."""

import signal
import subprocess
import sys

from latchfree_spark.session import end_launched


def test_what_was_being_launched_ends() -> None:
    started: list[subprocess.Popen[bytes]] = []

    def launch_gateway() -> None:  # as PySpark has it
        proc = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        started.append(proc)
        raise KeyboardInterrupt

    try:
        launch_gateway()
    except KeyboardInterrupt as error:
        end_launched(error)
    assert started[0].returncode == -signal.SIGKILL
