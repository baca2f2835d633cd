"""Servers as child processes: started, stopped, killed, paused, and never left behind.

Invariant: no server outlives whoever started it. `with` stops the server, also after an exception and Ctrl-C. If the
program itself is killed, the kernel kills the server (PR_SET_PDEATHSIG). The kernel counts the death of the *thread*
that started a child, so one thread starts all servers and lives as long as the program.

A server leads a session and process group of its own: Ctrl-C in a terminal reaches the program and not the server, and
a signal for the server reaches all its processes. The group is signalled while its leader is not yet reaped, so its
number cannot belong to anybody else.
"""

from __future__ import annotations

import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from latchfree_lincheck.record.launching import launched

PATIENCE: Final = 60.0
"""Seconds in which a server must be ready, and in which it must end when asked to."""

_BECOME: Final = """import ctypes, os, sys
parent, uid, gid = map(int, sys.argv[1:4])
if uid >= 0:
    os.setgroups([]); os.setgid(gid); os.setuid(uid)
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() != parent:
    os._exit(1)
os.execvp(sys.argv[4], sys.argv[4:])
"""
"""Change the user first, since that forgets the signal; then ask for SIGKILL at the parent's death; then be the server.

The parent may have died before it was asked for: then the parent is another one by now."""


class ServerError(RuntimeError):
    """A server that did not start, ended by itself, or cannot be stopped."""


class Server:
    """A program that serves, as a child process on this machine.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments; ``{folder}`` stands for the server's folder.
    name : str, optional
        What reports call it; the program's name if not given.
    ready : callable, optional
        Called again and again after a start; raises OSError while the server is not ready. See `listens`.
    folder : path-like, optional
        Its working directory, kept over restarts. If not given, a temporary one, removed at the end.
    user : str, optional
        The user to run as, for servers that refuse to run as root. Only root may give it.
    environment : mapping, optional
        Variables besides those of this program.
    end : signal
        What asks it to end; SIGKILL follows if it does not.

    Raises
    ------
    FileNotFoundError
        If there is no such program.

    Examples
    --------
    >>> with Server(["sleep", "60"]) as server:
    ...     server.pause(); server.resume(); server.kill(); server.start()
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str | None = None,
        ready: Callable[[], object] | None = None,
        folder: str | os.PathLike[str] | None = None,
        user: str | None = None,
        environment: Mapping[str, str] | None = None,
        end: signal.Signals = signal.SIGTERM,
    ) -> None:
        found = shutil.which(command[0])
        if found is None:
            raise FileNotFoundError(f"there is no program {command[0]!r}: install it, or give its whole path")
        self.name = name or Path(command[0]).name
        self._user = None if user is None else pwd.getpwnam(user)
        made = tempfile.mkdtemp(prefix="latchfree-server-") if folder is None else None
        self._remove = weakref.finalize(self, _remove, made, os.getpid())
        self.folder = Path(made or folder or "").absolute()
        self.log = self.folder / "server.log"
        self._command = [found, *(each.replace("{folder}", str(self.folder)) for each in command[1:])]
        self._ready = ready
        self._environment = dict(environment or {})
        self._end = end
        self._process: subprocess.Popen[bytes] | None = None
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)

    @property
    def pid(self) -> int:
        """The process id; 0 if it does not run."""
        return self._process.pid if self._process is not None and not self._ended() else 0

    def start(self) -> None:
        """Start the server and wait until it is ready; nothing is done if it runs.

        Raises
        ------
        ServerError
            If it ends by itself, or is not ready within `PATIENCE` seconds.
        """
        if self.pid:
            return
        self._reap()
        user = (-1, -1) if self._user is None else (self._user.pw_uid, self._user.pw_gid)
        become = [sys.executable, "-I", "-S", "-c", _BECOME, str(os.getpid()), *map(str, user)]
        with self.log.open("ab") as log:
            self._process = launched(
                lambda: subprocess.Popen(
                    [*become, *self._command],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    env=os.environ | self._environment,
                    start_new_session=True,
                )
            )
        deadline = time.monotonic() + PATIENCE
        while self._ready is not None:
            if self._ended():
                raise ServerError(f"{self.name} ended by itself; its last words:\n{self.last_words()}")
            try:
                self._ready()
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise ServerError(f"{self.name} is not ready after {PATIENCE:g} s: {error}") from None
            time.sleep(0.01)

    def stop(self) -> None:
        """Ask it to end, and kill what is left of it; nothing is done if it does not run."""
        if not self.pid:
            self._reap()
            return
        self._signal(signal.SIGCONT)
        assert self._process is not None
        os.kill(self._process.pid, self._end)
        deadline = time.monotonic() + PATIENCE / 6
        while not self._ended() and time.monotonic() < deadline:
            time.sleep(0.005)
        self.kill()

    def kill(self) -> None:
        """Kill it, all its processes, with SIGKILL; nothing is done if it does not run."""
        self._signal(signal.SIGKILL)
        self._reap()

    def pause(self) -> None:
        """Stop its processes where they are, and return when they stand still.

        Raises
        ------
        ServerError
            If it does not run.
        """
        self._signal(signal.SIGSTOP)
        while self.pid and self._waited(os.WSTOPPED | os.WNOWAIT) is None:
            time.sleep(0.001)
        if not self.pid:
            raise ServerError(f"{self.name} does not run, so it cannot be paused")

    def resume(self) -> None:
        """Let its processes go on; nothing is done if it does not run."""
        self._signal(signal.SIGCONT)

    def last_words(self, lines: int = 10) -> str:
        """Return the last lines that it wrote to its output."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _ended(self) -> bool:
        return self._waited(os.WEXITED | os.WNOWAIT) is not None

    def _waited(self, what: int) -> Any:
        """Return how it ended or stopped, None if it did not; it is not reaped."""
        assert self._process is not None
        try:
            return os.waitid(os.P_PID, self._process.pid, what | os.WNOHANG)
        except ChildProcessError:
            return self._process

    def _reap(self) -> None:
        if self._process is not None:
            self._process.wait()
            self._process = None

    def __enter__(self) -> Server:
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.stop()
        finally:
            self.kill()
            self._remove()


def _remove(folder: str | None, owner: int) -> None:
    """Remove a temporary folder; the process that made the folder does, no child of that process."""
    if folder is not None and os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """Return a port of the loopback at which nobody listens, and which the kernel gives to no outgoing connection."""
    with Path("/proc/sys/net/ipv4/ip_local_port_range").open() as file:
        first = int(file.read().split()[0])
    chosen = random.SystemRandom()
    while True:
        port = chosen.randrange(max(first // 2, 1024), first)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def listens(port: int) -> Callable[[], None]:
    """Return what tells `Server` that it is ready: a connection to a port of the loopback."""

    def connect() -> None:
        socket.create_connection(("127.0.0.1", port), PATIENCE).close()

    return connect
