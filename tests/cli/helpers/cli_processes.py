"""Commands in processes of their own: run to their end, or interrupted."""

import os
import signal
import subprocess
import sys
from typing import Any

PATIENCE = 120  # seconds


def environment() -> dict[str, str]:
    """Return variables by which a process finds the packages under test."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def python(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a fresh process; its output is captured unless `options` say where it goes."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment(), **options}
    return subprocess.run([sys.executable, *arguments], text=True, timeout=1200, check=False, **options)


def latchfree(*arguments: str, before: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in a fresh process, in which the code `before` runs first."""
    program = f"{before}\nimport sys\nsys.argv = ['latchfree', *{list(arguments)!r}]\n"
    return python("-c", program + "from latchfree_cli.main import main\nmain()\n", **options)


def interrupt(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Press Ctrl-C and return what the process still writes until it ends.

    A process that spends its time in compiled code notices late, so after a long time it is pressed again.
    """
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    return process.communicate()
