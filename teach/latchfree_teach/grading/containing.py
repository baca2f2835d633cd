"""Contain this process for good: little time and memory, one folder to write to, no network, no other process.

What a submission may say is limited by `latchfree_teach.grading.syntax` already. This is the second wall, for what got
through the first. Limits are there on every system; Landlock (Linux 5.13) closes the file system, a filter of system
calls closes sockets, new processes and other processes. Both are asked of the kernel by number, and need no privilege.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_PARENT_DEATH_SIGNAL: Final = 1
_NO_NEW_PRIVILEGES: Final = 38
_SECCOMP: Final = 22
_RULESET, _ADD_RULE, _RESTRICT = 444, 445, 446
_READ: Final = 1 << 0 | 1 << 2 | 1 << 3  # execute, read a file, read a folder
_ALL: Final = (1 << 13) - 1  # what the first Landlock knows
_TCP: Final = 3  # bind and connect, from Landlock's fourth version on

#: System calls that are refused, per machine: the architecture's mark, then names and numbers.
_CLOSED: Final = {
    "x86_64": (0xC000003E, {
        "socket": 41, "socketpair": 53, "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "kill": 62,
        "ptrace": 101, "mount": 165, "unshare": 272, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
        "bpf": 321, "perf_event_open": 298, "io_uring_setup": 425, "pidfd_open": 434, "keyctl": 250, "tkill": 200,
    }, 56),
    "aarch64": (0xC00000B7, {
        "socket": 198, "socketpair": 199, "execve": 221, "execveat": 281, "kill": 129, "ptrace": 117, "mount": 40,
        "unshare": 97, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271, "bpf": 280,
        "perf_event_open": 241, "io_uring_setup": 425, "pidfd_open": 434, "keyctl": 219, "tkill": 130,
    }, 220),
}  # fmt: skip
_CLONE3: Final = 435
_CLONE_THREAD: Final = 0x10000
_ALLOW: Final = 0x7FFF0000
_ERROR: Final = 0x00050000


def limit(seconds: int, megabytes: int) -> None:
    """Limit processor time, memory and the size of files; a process that is out of time is killed by SIGXCPU.

    The megabytes are those of the process as it is in memory, what it has already included; half of them are for what
    comes, even if it has more.
    """
    mapped, resident = _sizes()
    more = max(megabytes << 19, (megabytes << 20) - resident)
    for what, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, mapped + more),
        (resource.RLIMIT_FSIZE, 16 << 20),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most if what != resource.RLIMIT_CPU else most + 1))


def contain(folder: Path, readable: Iterable[str]) -> list[str]:
    """Close the file system but for `folder` and what is `readable`, the network and all other processes.

    Returns
    -------
    list of str
        What holds this process: "limits", and "files" and "calls" where the system offers these walls.
    """
    held = ["limits"]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0:
        if _close_files(libc, str(folder), readable):
            held.append("files")
        if _close_calls(libc):
            held.append("calls")
    return held


def code_folders() -> list[str]:
    """Return the folders that Python and the packages are loaded from."""
    from latchfree.jit import cache_root

    places = [sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", str(cache_root()), *sys.path]
    return [place for place in dict.fromkeys(map(os.path.realpath, filter(None, places))) if Path(place).exists()]


def _sizes() -> tuple[int, int]:
    """Return the bytes of address space that this process has mapped, and those that are in memory."""
    try:
        mapped, resident = Path("/proc/self/statm").read_text().split()[:2]
        return int(mapped) * resource.getpagesize(), int(resident) * resource.getpagesize()
    except (OSError, ValueError):
        return 4 << 30, 0


def _close_files(libc: ctypes.CDLL, folder: str, readable: Iterable[str]) -> bool:
    version = libc.syscall(_RULESET, None, 0, 1)
    if version < 1:
        return False
    attributes = (ctypes.c_uint64 * 2)(_ALL, _TCP)
    rules = libc.syscall(_RULESET, ctypes.byref(attributes), 16 if version >= 4 else 8, 0)
    if rules < 0:
        return False
    for path in (folder, *readable):
        rights = _ALL if path == folder else _READ
        if not Path(path).is_dir():
            rights &= 1 << 0 | 1 << 1 | 1 << 2
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12)
        libc.syscall(_ADD_RULE, rules, 1, rule, 0)
        os.close(place)
    closed: bool = libc.syscall(_RESTRICT, rules, 0) == 0
    os.close(rules)
    return closed


def _close_calls(libc: ctypes.CDLL) -> bool:
    """Install a filter: each closed call fails with EPERM, and so does `clone` unless it makes a thread."""
    known = _CLOSED.get(platform.machine())
    if known is None:
        return False
    mark, closed, clone = known
    code = [
        (0x20, 0, 0, 4),  # the architecture
        (0x15, 1, 0, mark),
        (0x06, 0, 0, _ERROR | errno.EPERM),
        (0x20, 0, 0, 0),  # the number of the call
        (0x35, 0, 1, 0x40000000),  # numbers of x32
        (0x06, 0, 0, _ERROR | errno.EPERM),
        (0x15, 0, 1, _CLONE3),  # its flags are in memory, which no filter sees; the C library falls back to clone
        (0x06, 0, 0, _ERROR | errno.ENOSYS),
    ]
    for number in closed.values():
        code += [(0x15, 0, 1, number), (0x06, 0, 0, _ERROR | errno.EPERM)]
    code += [
        (0x15, 0, 3, clone),
        (0x20, 0, 0, 16),  # its flags
        (0x45, 1, 0, _CLONE_THREAD),
        (0x06, 0, 0, _ERROR | errno.EPERM),
        (0x06, 0, 0, _ALLOW),
    ]
    instructions = b"".join(struct.pack("=HBBI", *each) for each in code)
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(code), ctypes.addressof(buffer)))
    done: bool = libc.prctl(_SECCOMP, 2, program, 0, 0) == 0
    return done
