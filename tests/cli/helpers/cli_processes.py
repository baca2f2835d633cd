"""Commands in processes of their own that are interrupted."""

import signal
import subprocess

PATIENCE = 120  # seconds


def interrupt(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Press Ctrl-C and return what the process still writes until it ends.

    An interpreter that is interrupted in a finalizer says so and goes on, so after a long time it is pressed again.
    """
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    return process.communicate()
