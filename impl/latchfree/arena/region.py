"""Regions: the memory under an arena, private or shared through a file, and who has it open.

Example: two processes have an arena open. The first one closes it: another opening is alive, so the header stays in
use. The second one closes it: no other opening is alive, and the header is sealed.

Invariant: a file has its final name only once its header is whole. Each shared region is one *opening* of its file. An
opening has an identity that no other opening has, a random number of 47 bits; the kernel knows which identities are
alive (see `latchfree.arena.filelocks`). The region is mapped through that opening, so an opening is alive as long as
the region can be written through it. Opening and closing wait for nobody (see `latchfree.arena.sealing`).

A forked child is a user of its own: each region is opened once more before the fork, for the child.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import filelocks, forking, header, sealing
from latchfree.arena.files import close_same, errors_name, give_name, locate, new_file, require_same
from latchfree.arena.forking import Bequest
from latchfree.arena.memory import Memory, private_memory, reserves_pages
from latchfree.errors import ArenaInvalid

#: How often an opening asks for a byte, and the seconds in between, while `fsck` has them all.
_ASKS: Final = 50
_NAP: Final = 0.02

_FLAGS: Final = os.O_RDWR | (os.O_CLOEXEC | os.O_NOCTTY | os.O_NOFOLLOW if sys.platform == "linux" else 0)


class Region:
    """Memory of an arena; use `anonymous`, `create` or `open`.

    A region must be closed: a file that was not closed is found in use, and refused once the system has been down.

    Attributes
    ----------
    words : ndarray of uint64
        The whole region. The addresses stay valid, also after `close`, as long as somebody refers to the array; from
        then on they show empty memory of this process.
    kind : str
        ``"anonymous"``, ``"name"`` or ``"path"``.
    where : str
        The path of its file, or ``anonymous arena``.
    fd : int or None
        Descriptor of the opening, None if the region has no file or is closed. Somebody may have closed it.
    identity : int
        The number of this opening; 1 for a region without a file.
    """

    def __init__(self, words: NDArray[np.uint64], kind: str, where: str) -> None:
        self.words = words
        self.kind = kind
        self.where = where
        self.fd: int | None = None
        self.identity = 1

    @classmethod
    def _of_file(cls, memory: Memory, kind: str, target: Path, fd: int, file: os.stat_result, identity: int) -> Region:
        sealing.prepared()
        region = cls(memory.words, kind, str(target))
        region._memory = memory
        region._file = file
        region.fd, region.identity = fd, identity
        forking.enroll(region)
        return region

    _memory: Memory
    _file: os.stat_result

    @classmethod
    def anonymous(cls, capacity: int, least: int | None = None) -> Region:
        """Make a region of private memory of this process, formatted; pages are committed when first written.

        With `least`, a process of limited memory gets half of what fits, a power of two smaller than `capacity`.

        Raises
        ------
        OSError
            If so much address space is not to be had.
        """
        size = header.round_capacity(capacity)
        region = cls(private_memory(size, least), "anonymous", "anonymous arena")
        header.format_header(region.words)
        return region

    @classmethod
    def create(cls, *, name: str | None = None, path: str | os.PathLike[str] | None = None, capacity: int) -> Region:
        """Make a shared region, formatted and open; its file, of mode 0600, appears whole or not at all.

        Raises
        ------
        FileExistsError
            If there is a file already, be it made at this very moment by another process.
        OSError
            If there is no room for the header, or the file cannot be made for another reason.
        """
        size = header.round_capacity(capacity)
        target = locate(name=name, path=path)
        filelocks.require_linux()
        with errors_name(target):
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, "exists")
            fd, temporary = new_file(target.parent)
            file = os.fstat(fd)
            try:
                os.ftruncate(fd, size)
                os.posix_fallocate(fd, 0, header.TABLE_BYTES)
                memory = Memory(fd, size)
                require_same(fd, file)  # before anything is written
                header.format_header(memory.words)
                identity = _take_identity(fd)
                require_same(fd, file)  # before it gets its name
                give_name(fd, temporary, target)
            except BaseException:
                close_same(fd, file)
                raise
            finally:
                if temporary is not None:
                    temporary.unlink()
        return cls._of_file(memory, "path" if name is None else "name", target, fd, file, identity)

    @classmethod
    def open(
        cls, *, name: str | None = None, path: str | os.PathLike[str] | None = None, repair: bool = False
    ) -> Region:
        """Open an existing shared region, checked before anything is mapped or written.

        Parameters
        ----------
        name, path : str
            One of them.
        repair : bool
            Open also an arena that was in use when the system went down, and alone or not at all: nobody else can open
            the region meanwhile. Nothing is marked, and closing seals the header only if the caller has marked the
            arena as in use.

        Raises
        ------
        FileNotFoundError
            If there is none.
        BlockingIOError
            If `repair` is asked for and the arena is in use; or if somebody else is repairing it.
        ArenaInvalid
            If the file is no arena, damaged, or written by another version; the file is unchanged.
        """
        target = locate(name=name, path=path)
        filelocks.require_linux()
        fd = os.open(target, _FLAGS)
        file = os.fstat(fd)
        try:
            if not stat.S_ISREG(file.st_mode):
                raise ArenaInvalid(f"{target}: not an arena: not a regular file")
            with errors_name(target):
                identity = _take_all(fd) if repair else _take_identity(fd)
                try:
                    memory = Memory(fd, _validated(fd, identity, target, repair=repair))
                finally:
                    require_same(fd, file)  # before anything is written, or said of another file
                if not repair:
                    sealing.enter(memory.words)
                    if name is None:
                        # spec: Lifecycle!OpenFlush -- also if somebody else has marked the arena (mutant O16).
                        memory.flush(header.HEADER_BYTES)  # no change may reach the disk while the seal is there
        except BaseException:
            close_same(fd, file)
            raise
        return cls._of_file(memory, "path" if name is None else "name", target, fd, file, identity)

    @property
    def shared(self) -> bool:
        """Whether other processes can open the region."""
        return self.kind != "anonymous"

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self.fd is None and self.shared

    def _is_of_file(self, fd: int) -> bool:
        """Return whether a descriptor is one of the arena's file."""
        try:
            return os.path.samestat(os.fstat(fd), self._file)
        except OSError:
            return False

    def _own_descriptor(self) -> int | None:
        """Return the descriptor if it still is that of the opening: a daemonizer closes what it does not know."""
        fd = self.fd  # read once: a thread, or a finalizer between two steps, may close the region
        if fd is None:
            return None
        try:
            # To another opening of the file the own byte seems taken.
            return fd if self._is_of_file(fd) and not filelocks.is_taken(fd, self.identity) else None
        except OSError:
            return None

    @contextmanager
    def _descriptor(self) -> Iterator[int]:
        """Yield a descriptor of the file, of the region's opening or of another one.

        Raises
        ------
        OSError
            If there is none to be had.
        """
        own = self._own_descriptor()
        if own is not None:
            yield own
            return
        fd = os.open(self.where, _FLAGS)
        file = os.fstat(fd)
        try:
            if self.fd is None or not self._is_of_file(fd):
                raise FileNotFoundError(errno.ENOENT, "closed, or another file has taken its place", self.where)
            yield fd
        finally:
            close_same(fd, file)

    def reserve_through(self) -> tuple[int, int]:
        """Return the words `P_ADDRESS` and `P_FD` of participants of this opening."""
        if self.fd is None:
            return 0, 0
        return (self.words.ctypes.data, 0) if reserves_pages() else (0, self.fd + 1)

    def is_dead(self, identity: int) -> bool:
        """Return whether an opening is known to be dead; False where nobody can tell."""
        if identity == self.identity or not self.shared:
            return False
        try:
            with self._descriptor() as fd:
                # spec: Lifecycle!AskKernel -- then look: a number closed meanwhile may answer for another file.
                return not filelocks.is_taken(fd, identity) and self._is_of_file(fd)
        except OSError:
            return False  # out of descriptors, for example

    def others(self) -> bool:
        """Return whether the region has another living opening, at this moment."""
        if not self.shared:
            return False
        with self._descriptor() as fd:
            return self._others(fd)

    def _others(self, fd: int) -> bool:
        return filelocks.others(fd, self.identity) or not self._is_of_file(fd)

    def close(self, *, clean: bool = True) -> None:
        """Stop using the region; the last process to do so seals the header.

        The addresses stay valid while somebody refers to the words, but show the file no more.

        Parameters
        ----------
        clean : bool
            False: leave the header as a killed process would.
        """
        if not forking.dismiss(self):  # a child forked from here on does not have it
            return
        own = self._own_descriptor()
        with ExitStack() as at_end:
            if own is not None:
                # spec: Lifecycle!CloseEnd
                at_end.callback(close_same, own, self._file)
            head, fd = None, -1
            if clean:
                with suppress(OSError):  # without a descriptor: as if killed
                    fd = at_end.enter_context(self._descriptor())
                    shown = Memory(fd, header.HEADER_BYTES)
                    require_same(fd, self._file)
                    head = shown
            self.fd = None
            # spec: Lifecycle!CloseHide -- a late writer does not reach the file any more.
            self._memory.hide()
            if own is not None:
                # spec: Lifecycle!CloseUnlock -- before looking for others: of two that close, one sees nobody.
                filelocks.give_back(own)
            if head is not None:
                self._leave(head.words, fd)

    def _leave(self, words: NDArray[np.uint64], fd: int) -> None:
        def to_disk() -> None:
            if self.kind == "path":
                os.fsync(fd)

        sealing.leave(words, self.identity, lambda: self._others(fd), to_disk)

    def unlink(self) -> None:
        """Remove the name of the file; processes that have the file open go on using it.

        Raises
        ------
        FileNotFoundError
            If the file is gone, or another has taken its place.
        """
        if not self.shared:
            return
        file = Path(self.where)
        if not os.path.samestat(file.stat(), self._file):
            raise FileNotFoundError(errno.ENOENT, "another file has taken the arena's place", self.where)
        file.unlink()

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        # Without `close`: as if the process had been killed. While the interpreter ends, names of modules are gone,
        # and the kernel is about to do the same.
        if is_ending():
            return
        own = self._own_descriptor() if hasattr(self, "fd") else None
        if own is not None:
            os.close(own)

    def __repr__(self) -> str:
        return f"<Region {self.where}, {self.words.nbytes:,} bytes{', closed' if self.closed else ''}>"

    def bequeath(self, descriptors: list[int]) -> Bequest:
        """Open the region once more, for a child that is about to be forked.

        Parameters
        ----------
        descriptors : list of int
            The descriptor of the new opening is appended.

        Raises
        ------
        OSError
            If there is no descriptor left.
        """
        with self._descriptor() as fd:
            opening = filelocks.reopen(fd, descriptors)
        if not self._is_of_file(opening):  # a finalizer has closed the region, and the number was used again
            raise FileNotFoundError(errno.ENOENT, "closed meanwhile", self.where)
        return Bequest(opening, _take_identity(opening, asks=1), self._own_descriptor() is not None)

    def _shows(self, fd: int) -> bool:
        """Show the file through another opening; False if the system has no memory for that."""
        try:
            self._memory.show(fd)
        except OSError:
            return False
        return True

    def inherit(self, bequest: Bequest | None, descriptors: list[int]) -> bool:
        """Go on in a forked child with the opening made for the child; without one the region is closed there.

        The region is closed, too, if the system has no memory for the child's mapping.

        A signal handler may raise between any two steps; then all are done once more.

        Parameters
        ----------
        bequest : Bequest or None
            The opening that the parent made for the child before the fork.
        descriptors : list of int
            A descriptor that the region keeps is removed.

        Returns
        -------
        bool
            Whether the region is open.
        """
        fd = self.fd
        # spec: Lifecycle!ForkRemap -- without unlocking, for the lock is the parent's (mutant O12).
        if bequest is None or not self._shows(bequest.fd):  # the child must not pass for its parent
            with suppress(OSError):
                self._memory.hide()
            own = self._own_descriptor()
            if own is not None:
                os.close(own)
            self.fd = None
            return False
        if bequest.replaces and fd is not None:
            os.dup2(bequest.fd, fd, inheritable=False)
        else:
            self.fd = bequest.fd
            with suppress(ValueError):
                descriptors.remove(bequest.fd)
        self.identity = bequest.identity
        return True


def _any_identity() -> int:
    """Return one of the identities but 0, by chance."""
    return 1 + int.from_bytes(os.urandom(8), "little") % (filelocks.IDENTITIES - 1)


def _take_identity(fd: int, *, asks: int = _ASKS) -> int:
    """Take the byte of a new identity, and return the identity."""
    for ask in range(asks):
        identity = _any_identity()
        # spec: Lifecycle!OpenLock, Lifecycle!ForkLock
        if filelocks.take(fd, identity):
            return identity
        if ask + 1 < asks:
            time.sleep(_NAP)
    raise BlockingIOError(errno.EALREADY, "in repair")


def _take_all(fd: int) -> int:
    """Take the bytes of all identities, and return one."""
    if not filelocks.take_all(fd):
        raise BlockingIOError(errno.EAGAIN, "in use")
    return _any_identity()


def _validated(fd: int, identity: int, target: Path, *, repair: bool) -> int:
    """Return the size of a file whose header is valid; others may open the file and change the header meanwhile."""
    while True:
        alone = repair or not filelocks.others(fd, identity)
        size, words = os.fstat(fd).st_size, header.read(fd)
        try:
            # spec: Lifecycle!OpenCheck
            header.validate(words, size, str(target), alone=alone, repair=repair)
        except ArenaInvalid:
            # spec: Lifecycle!OpenRecheck -- the header may have changed while it was read (mutant O14).
            if (alone and filelocks.others(fd, identity)) or not np.array_equal(words, header.read(fd)):
                continue  # read while somebody changed the header
            raise
        return size
