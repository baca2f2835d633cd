"""Make a page in a process of its own: a mutant stays applied to the end of its process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

from latchfree.extras import missing


def made_alone(what: str, module: str, *arguments: str) -> Any:
    """Run ``python -m module arguments``, and return what it prints as JSON.

    Raises
    ------
    MissingExtra
        If the process lacks a package that an extra brings.
    RuntimeError
        If the process fails: what it was for, and the last line that it said.
    """
    command = [sys.executable, "-P", "-m", module, *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        absent = re.fullmatch(r"ModuleNotFoundError: No module named '([\w.]+)'", last[0])
        raise (absent and missing(absent[1])) or RuntimeError(f"{what}: {last[0]}")
    return json.loads(done.stdout)
