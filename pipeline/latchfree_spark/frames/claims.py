"""Keep a second job away from an output at a URI while one writes there.

Example: the job of tonight starts while that of last night still runs. It raises its flag, a small file in
``OUT/_running``, looks, sees the flag of the other job, takes its own down and ends with the host, the process and the
start of the other one.

The invariant is the flag principle: who raises a flag and then looks either sees the flag of the other one or is seen
by it. So of two jobs at most one goes on (two that start in the same instant may both give up), and that needs
nothing of a file system but that who lists a folder sees the files that were complete before. Hadoop's "create, but do
not overwrite" is no help: its clients of local disks and of S3 look first and write then.

A job that was killed leaves its flag. A job on the same machine sees that its processes are gone, the driver and its
virtual machine, which outlives it by a moment, and takes the flag down at once. From elsewhere nobody sees the
process; but a job writes its flag anew every `BEAT` seconds. The flag counts as left behind if the one just raised is
younger by `PATIENCE`: both times are the file system's, so no clocks of two machines are compared. A job that could
not reach the file system for so long finds its flag gone before it writes, and ends. If it is stopped between that
look and its writing, two jobs write after all; then the account of the one that ends last finds the double rows, and
it ends with an error. So the clock decides when to go on, never whether a verdict counts.
"""

from __future__ import annotations

import datetime
import json
import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.check.options import JobRefused
from latchfree_spark.hadoop import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER: Final = "_running"
"""Where the flags are, below the output; readers of tables pass over names that begin so."""
BEAT: Final = 30.0
"""Seconds after which a job writes its flag anew."""
PATIENCE: Final = 600.0
"""Seconds without that after which a flag counts as left behind."""

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


@contextmanager
def claimed(spark: SparkSession, out: str) -> Iterator[Callable[[], None]]:
    """Keep other jobs away from an output; yield a function that raises if this job has lost it.

    With Spark Connect, which has no file system for us, nobody is kept away.

    Raises
    ------
    JobRefused
        If another job runs there, naming it.
    """
    store = Store.of(spark, out)
    if store is None:
        yield lambda: None
        return
    folder, me = f"{out}/{FOLDER}", processes(os.getpid(), store.machine)
    own = f"{me['host']}-{me['pid']}-{secrets.token_hex(8)}.json"
    content = json.dumps({**me, "since": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")}).encode()
    store.write(f"{folder}/{own}", content)
    over = threading.Event()
    beating = threading.Thread(target=_beat, args=(store, f"{folder}/{own}", content, over), daemon=True)
    try:
        _refuse_others(store, folder, own, me)
        beating.start()
        yield lambda: _still(store, f"{folder}/{own}", out)
    finally:
        over.set()
        if beating.ident is not None:
            beating.join()
        with suppress(Exception):  # what ended the job counts more; the flag of a process that is gone is taken down
            store.remove(f"{folder}/{own}")


def processes(*pids: int) -> dict[str, Any]:
    """Return what tells some processes, of which the first is the driver, from all others, here and elsewhere."""
    known = {str(pid): started(pid) for pid in pids}
    return {"host": socket.gethostname(), "pid": pids[0], "processes": known, "machine": _machine()}


def started(pid: int) -> str:
    """Return when a process started, in ticks since the system did; "" if it is gone or nobody knows."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


def _machine() -> str:
    """Return what two processes share only if each one sees the other's number; "" if nobody knows."""
    with suppress(OSError):
        return f"{_BOOT.read_text().strip()} {Path('/proc/self/ns/pid').readlink()}"
    return ""


def _refuse_others(store: Store, folder: str, own: str, me: dict[str, Any]) -> None:
    """Raise if another flag is up; take down those that were left behind."""
    entries = {each.name: each.changed for each in store.entries(folder) if not each.name.startswith(".")}
    if own not in entries:
        raise JobRefused(f"{folder}: the file system does not list {own}, which was just written there")
    for name, changed in entries.items():
        if name == own:
            continue
        told: dict[str, Any] = {}
        with suppress(Exception):  # a flag that is just being written, or has just been taken down
            told = json.loads(store.read(f"{folder}/{name}"))
        silent = (entries[own] - changed) / 1000
        here = bool(me["machine"]) and told.get("machine") == me["machine"]
        gone = here and all(started(int(pid)) != since for pid, since in told["processes"].items())
        if gone or silent > PATIENCE:
            store.remove(f"{folder}/{name}")
            continue
        if not told and not store.exists(f"{folder}/{name}"):
            continue
        who = f"process {told['pid']} on {told['host']} since {told['since']}" if told else name.rpartition("-")[0]
        way = "wait for it" if here else f"wait for it; if it is gone, {PATIENCE / 60:.0f} minutes after its last sign"
        raise JobRefused(
            f"{folder.removesuffix(f'/{FOLDER}')}: another job is writing there: {who}, last sign {silent:,.0f} s ago;"
            f" {way}, or choose another output"
        )


def _beat(store: Store, flag: str, content: bytes, over: threading.Event) -> None:
    """Write a flag anew from time to time, unless somebody has taken it down."""
    while not over.wait(BEAT):
        with suppress(Exception):  # the next beat may reach the file system again
            if store.exists(flag):
                store.write(flag, content, again=True)


def _still(store: Store, flag: str, out: str) -> None:
    if not store.exists(flag):
        raise JobRefused(
            f"{out}: another job took this output over, because this one did not reach the file system for"
            f" {PATIENCE / 60:.0f} minutes; nothing more was written: start again to judge what is missing"
        )
