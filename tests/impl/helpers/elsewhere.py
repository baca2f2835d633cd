"""Run a program in a process that looks like one of another system: ``python elsewhere.py win32 PROGRAM``.

Modules and names that the system has not are taken away, after the packages that are not ours have been loaded.
"""

import asyncio
import ctypes
import importlib.metadata
import mmap
import multiprocessing
import os
import pathlib
import platform
import subprocess
import sys
import sysconfig
import tempfile
import threading

import hypothesis
import lazy_loader
import llvmlite.binding
import numba
import numpy as np
import pyarrow as pa

LOADED = (
    asyncio,
    ctypes,
    importlib.metadata,
    lazy_loader,
    llvmlite.binding,
    multiprocessing,
    np,
    pa,
    pathlib,
    subprocess,
)
ALSO_LOADED = (hypothesis, sysconfig.get_config_vars(), tempfile, threading, numba.njit(lambda x: x + 1)(1))

LINUX_ONLY = ("posix_fallocate", "memfd_create", "sched_getaffinity", "O_TMPFILE", "pidfd_open")
NOT_ON_WINDOWS = (
    "register_at_fork", "fork", "sysconf", "fstatvfs", "geteuid", "getuid", "O_CLOEXEC", "O_NOFOLLOW", "O_NOCTTY",
    "fchmod", "getpgid",
)  # fmt: skip


class WindowsMap(mmap.mmap):
    """Memory is taken at once, so there is not much of it; the constructor knows no flags."""

    def __new__(cls, fileno, length, *, tagname=None, access=None, offset=0):
        if length > 1 << 33:
            raise OSError(1455, "The paging file is too small for this operation to complete")
        return super().__new__(cls, fileno, length)

    madvise = None


def take_away(system):
    """Make this process look like one of another system."""
    windows = system == "win32"
    for name in (*LINUX_ONLY, *(NOT_ON_WINDOWS if windows else ())):
        vars(os).pop(name, None)
    for name in dir(mmap):
        if name.startswith("MADV_") or name == "MAP_NORESERVE" or (windows and name.startswith(("MAP_", "PROT_"))):
            delattr(mmap, name)
    if windows:
        mmap.mmap = WindowsMap
        for module in ("fcntl", "resource", "pwd", "grp"):
            sys.modules[module] = None
    sys.platform = system
    platform.system = lambda: {"win32": "Windows", "darwin": "Darwin"}[system]


if __name__ == "__main__":
    take_away(sys.argv[1])
    exec(sys.argv[2])
