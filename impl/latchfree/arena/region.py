"""Regions: the memory under an arena, private or shared through a file, and who has it open.

Example: two processes have an arena open. The first one closes it: another process still holds the shared lock, so the
header stays in use. The second one closes it: nobody else holds the lock, so the header is sealed.

Invariant: a file has its final name only once its header is whole, and every process that has the file open holds a
shared lock on it (see `latchfree.arena.filelocks`). Opening and closing go through a gate, one process at a time. A
process in the gate that sees no such lock is alone, and stays alone until it leaves the gate. The first to open marks
the header as in use, the last to close seals it.

A forked child is a user of its own: each region is opened once more before the fork, for the child.
"""

from __future__ import annotations

import errno
import mmap
import os
import resource
import stat
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from numpy.typing import NDArray

from latchfree.arena import filelocks, header
from latchfree.arena.files import errors_name, give_name, locate, new_file
from latchfree.errors import ArenaInvalid

_MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # Linux; a name since Python 3.13

#: Of a private arena the first bytes, which small arenas never leave, are in pages of the usual size.
_SMALL_PAGES = 4 << 20


class Region:
    """Memory of an arena; use `anonymous`, `create` or `open`.

    A region must be closed: a file that was not closed is found in use, and refused once the system has been down.

    Attributes
    ----------
    words : ndarray of uint64
        The whole region. The memory stays mapped, also after `close`, as long as somebody refers to it.
    kind : str
        ``"anonymous"``, ``"name"`` or ``"path"``.
    where : str
        The path of its file, or ``anonymous arena``.
    fd : int or None
        Descriptor of its file, None if it has none.
    was_in_use : bool
        All processes that had the file open before were killed: it was found in use, and nobody had it open.
    alone_at_opening : bool
        Nobody else had the file open.
    """

    def __init__(
        self, mapping: mmap.mmap, kind: str, where: str, fd: int | None, *, alone: bool, was_in_use: bool
    ) -> None:
        self.words: NDArray[np.uint64] = np.frombuffer(mapping, dtype=np.uint64)
        self.kind = kind
        self.where = where
        self.fd = fd
        self.alone_at_opening = alone
        self.was_in_use = was_in_use
        self._file = os.fstat(fd) if fd is not None else None
        self._new_mutexes()
        if fd is not None:
            with _forking:
                _shared.add(self)

    def _new_mutexes(self) -> None:
        # A lock of a file is its opening's, hence shared by the threads that share the region.
        self._gate = threading.Lock()
        self._directory = threading.Lock()

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
        filelocks.require_linux()
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
        fits = False
        while True:
            try:
                mapping = mmap.mmap(-1, size, flags=flags)
            except OSError as error:
                if least is None or size <= least:
                    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
                    shown = ["unlimited" if limit == resource.RLIM_INFINITY else f"{limit:,}" for limit in limits]
                    text = f"{size:,} bytes of address space for a private arena are not to be had: the process may "
                    text += f"map {shown[0]} bytes (ulimit -v) and {shown[1]} of data (ulimit -d); "
                    text += "give a smaller Arena.anonymous(capacity), or raise the limit"
                    raise OSError(error.errno, text) from None
                fits = True
            else:
                if not fits or least is None or size <= least:
                    break
                fits = False  # the other half is for the rest of the process
                mapping.close()
            size //= 2
        with suppress(OSError, AttributeError):  # hints; not every kernel knows them
            mapping.madvise(mmap.MADV_NOHUGEPAGE, 0, _SMALL_PAGES)
            if size > _SMALL_PAGES:
                mapping.madvise(mmap.MADV_HUGEPAGE, _SMALL_PAGES, size - _SMALL_PAGES)
        region = cls(mapping, "anonymous", "anonymous arena", None, alone=True, was_in_use=False)
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
            try:
                os.ftruncate(fd, size)
                os.posix_fallocate(fd, 0, header.TABLE_BYTES)
                mapping = _map(fd, size)
                header.format_header(np.frombuffer(mapping, dtype=np.uint64))
                filelocks.share(fd, filelocks.USERS)
                give_name(fd, temporary, target)
            except BaseException:
                os.close(fd)
                raise
            finally:
                if temporary is not None:
                    temporary.unlink()
        kind = "path" if name is None else "name"
        return cls(mapping, kind, str(target), fd, alone=True, was_in_use=False)

    @classmethod
    def open(
        cls, *, name: str | None = None, path: str | os.PathLike[str] | None = None, repair: bool = False
    ) -> Region:
        """Open an existing shared region, checked before anything is mapped or written.

        If nobody else has the region open, it is marked as in use and all participant slots are released.

        Parameters
        ----------
        name, path : str
            One of them.
        repair : bool
            Open also an arena that was in use when the system went down, and alone or not at all. Nothing is marked
            or released, and closing does not seal the header, until the caller has called `header.mark_in_use`.

        Raises
        ------
        FileNotFoundError
            If there is none.
        BlockingIOError
            If `repair` is asked for and the arena is in use.
        ArenaInvalid
            If the file is no arena, damaged, or written by another version; the file is unchanged.
        """
        target = locate(name=name, path=path)
        filelocks.require_linux()
        fd = os.open(target, os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY | os.O_NOFOLLOW)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise ArenaInvalid(f"{target}: not an arena: not a regular file")
            with errors_name(target), filelocks.held(fd, filelocks.GATE):
                alone = not filelocks.others(fd, filelocks.USERS)
                if repair and not alone:
                    raise BlockingIOError(errno.EAGAIN, "in use")
                size = os.fstat(fd).st_size
                with filelocks.held(fd, filelocks.DIRECTORY):
                    header.validate(header.read(fd), size, str(target), alone=alone, repair=repair)
                filelocks.share(fd, filelocks.USERS)
                mapping = _map(fd, size)
                words = np.frombuffer(mapping, dtype=np.uint64)
                was_in_use = alone and not header.is_clean(words)
                if alone and not repair:
                    header.mark_in_use(words)
                    header.release_participants(words)
                    if name is None:
                        os.fsync(fd)  # no change may reach the disk while the seal is still on it
        except BaseException:
            os.close(fd)
            raise
        kind = "path" if name is None else "name"
        return cls(mapping, kind, str(target), fd, alone=alone, was_in_use=was_in_use)

    @property
    def shared(self) -> bool:
        """Whether other processes can open the region."""
        return self.kind != "anonymous"

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self.shared and self.fd is None

    @contextmanager
    def gate(self) -> Iterator[bool]:
        """Keep everybody else from opening or closing the region; yield whether nobody else has it open.

        The caller must not open the same file inside.
        """
        with self._gate:
            if self.fd is None:
                yield True
            else:
                with filelocks.held(self.fd, filelocks.GATE):
                    yield not filelocks.others(self.fd, filelocks.USERS)

    def alone(self) -> bool:
        """Return whether nobody else has the region open at this moment; to rely on the answer, stay in the `gate`."""
        with self.gate() as alone:
            return alone

    @contextmanager
    def directory_lock(self) -> Iterator[None]:
        """Exclude all threads and processes that use the directory. Not reentrant."""
        with self._directory:
            fd = self.fd
            with nullcontext() if fd is None else filelocks.held(fd, filelocks.DIRECTORY):
                yield

    def close(self, *, clean: bool = True) -> None:
        """Stop using the region; the last process to do so seals the header.

        Nothing may be written afterwards, though the memory stays mapped while somebody refers to the words.

        Parameters
        ----------
        clean : bool
            False: leave the header as a killed process would.
        """
        with _forking:
            fd = self.fd
            if fd is None or self not in _shared:
                return
            _shared.discard(self)  # a child forked from here on does not have it
        try:
            with self.gate() as alone:
                if clean and alone and header.is_ours(self.words):
                    if self.kind == "path":
                        os.fsync(fd)  # what the seal vouches for comes first
                    header.mark_clean(self.words)
                    if self.kind == "path":
                        os.fsync(fd)
                filelocks.unlock(fd, filelocks.USERS)
        finally:
            self.fd = None
            os.close(fd)

    def unlink(self) -> None:
        """Remove the name of the file; processes that have the file open go on using it.

        Raises
        ------
        FileNotFoundError
            If the file is gone, or another has taken its place.
        """
        if self._file is None:
            return
        file = Path(self.where)
        if not os.path.samestat(file.stat(), self._file):
            raise FileNotFoundError(errno.ENOENT, "another file has taken the arena's place", self.where)
        file.unlink()

    def __del__(self) -> None:
        # Without `close`: as if the process had been killed.
        fd = getattr(self, "fd", None)
        if fd is not None:
            os.close(fd)

    def __repr__(self) -> str:
        return f"<Region {self.where}, {self.words.nbytes:,} bytes{', closed' if self.closed else ''}>"


def _map(fd: int, size: int) -> mmap.mmap:
    """Map a file through an opening of its own: a mapping keeps its descriptor, and with it the locks, for longer."""
    own = filelocks.reopen(fd)
    try:
        return mmap.mmap(own, size, flags=mmap.MAP_SHARED | _MAP_NORESERVE)
    finally:
        os.close(own)


_shared: weakref.WeakSet[Region] = weakref.WeakSet()
_compiling: Any = global_compiler_lock
#: Held while the process forks. Reentrant: a region may be finalized at any point.
_forking = threading.RLock()
#: The regions a child is about to inherit, each with an opening for it.
_bequest: list[tuple[Region, int]] = []


def _before_fork() -> None:
    # First: whoever compiles may have to finalize a region. In the child, a lock held by another thread would stay so.
    _compiling.acquire()
    _forking.acquire()
    for region in list(_shared):
        if region.fd is not None:
            with suppress(OSError):
                opening = filelocks.reopen(region.fd)
                _bequest.append((region, opening))
                filelocks.share(opening, filelocks.USERS)


def _after_fork_in_parent() -> None:
    for _, opening in _bequest:
        os.close(opening)
    _bequest.clear()
    _forking.release()
    _compiling.release()


def _after_fork_in_child() -> None:
    openings = {id(region): opening for region, opening in _bequest}
    for region in list(_shared):
        region._new_mutexes()
        if region.fd is None:
            continue
        if id(region) in openings:
            os.dup2(openings[id(region)], region.fd, inheritable=False)
            os.close(openings[id(region)])
        else:  # out of descriptors: the child does not have it, and must not touch the parent's locks
            os.close(region.fd)
            region.fd = None
            _shared.discard(region)
    _bequest.clear()
    _forking.release()
    _compiling.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
