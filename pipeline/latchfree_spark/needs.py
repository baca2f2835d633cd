"""What the Python of a worker must have: the driver's version of Python, and the packages that the jobs import.

Example: a table is judged when somebody asks for its rows, an hour after the call, on a host that has joined since and
has no numba. The worker itself compares what it runs with what the driver runs, before it imports anything else, and
the query fails with the host, the package and the way out, not with an import deep inside.

This file imports the standard library only: a worker imports it first.
"""

from __future__ import annotations

import functools
import socket
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

NEEDED: Final = ("numpy", "pyarrow", "numba", "llvmlite", "lazy_loader")
"""Distributions that the jobs need on an executor."""

SAME: Final = ("numba",)
"""Distributions whose version must begin with the same two numbers: compiled code depends on them."""


class WorkersDiffer(RuntimeError):
    """Workers whose Python cannot run the jobs; nothing was read or written there."""


def here() -> dict[str, Any]:
    """Return what this process runs."""
    return {
        "python": "{}.{}".format(*sys.version_info[:2]),
        **{name: _version(name) for name in NEEDED},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


@functools.cache
def require_as(driver: tuple[tuple[str, str | None], ...]) -> None:
    """Raise WorkersDiffer unless this process has what the driver has, given as the items of `here`."""
    problems = differences({"host": socket.gethostname(), "executable": sys.executable, **here()}, dict(driver))
    if problems:
        raise WorkersDiffer("\n".join(problems))


def differences(told: Mapping[str, Any], driver: Mapping[str, Any]) -> list[str]:
    """Return why a worker cannot run the jobs: sentences with its host, what it has, and the fix."""
    where = f"{told['host']}: {told['executable']}"
    fix = "set PYSPARK_PYTHON to a Python that has it on every host"
    if told["python"] != driver["python"]:
        return [
            f"{where} is Python {told['python']}, and the driver is Python {driver['python']}: functions are sent as "
            f"byte code, which differs; set PYSPARK_PYTHON to a Python {driver['python']} that is on every host"
        ]
    problems = [
        f"{where} has no {name}, which the jobs need; {fix}" for name in NEEDED if driver[name] and not told[name]
    ]
    for name in SAME:
        if told[name] and driver[name] and _series(told[name]) != _series(driver[name]):
            problems.append(
                f"{where} has {name} {told[name]}, and the driver has {driver[name]}; install the same version"
            )
    return problems


def _series(text: str) -> list[str]:
    return text.split(".")[:2]
