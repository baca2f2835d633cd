"""Memory of arenas: private memory, and ranges of addresses that show a file.

Example: `Memory(fd, size)` maps the file. After a fork the child calls `show` with an opening of its own: the same
addresses now show the file through that opening. When the arena is closed, `hide` puts empty memory there.

Invariant: the mapping refers to one opening of the file, the one shown last, and to no descriptor. Python's own
mappings of a file keep a copy of the descriptor, and with it the locks of the opening, for as long as anybody holds a
view of the memory. Addresses stay valid as long as a view is there: hidden memory reads as zeros, and what is written
there reaches no file.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from contextlib import suppress
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_LINUX: Final = sys.platform == "linux"
_MAP_NORESERVE: Final = getattr(mmap, "MAP_NORESERVE", 0x4000 if _LINUX else 0)  # a name since Python 3.13
_MAP_FIXED: Final = 0x10
if sys.platform != "win32":
    import resource

    _PROT: Final = mmap.PROT_READ | mmap.PROT_WRITE
    # Shared, so that an empty range does not count as data of the process (RLIMIT_DATA).
    _EMPTY: Final = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
#: Of private memory the first bytes, which small arenas never leave, are in pages of the usual size.
_SMALL_PAGES: Final = 4 << 20
_MADV_POPULATE_WRITE: Final = 23
_FAILED: Final = ctypes.c_void_p(-1).value


@cache
def _system_mmap() -> Any:
    function = ctypes.CDLL(None, use_errno=True).mmap
    function.restype = ctypes.c_void_p
    function.argtypes = (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
    )  # fmt: skip
    return function


class Memory:
    """A range of addresses.

    Parameters
    ----------
    fd : int
        Descriptor of the opening that the range shows at first.
    size : int
        Bytes, a multiple of the page size.

    Attributes
    ----------
    words : ndarray of uint64
        The range. Every view of the array keeps the addresses valid.
    """

    def __init__(self, fd: int, size: int) -> None:
        self._range = mmap.mmap(-1, size, flags=_EMPTY)
        self.words: NDArray[np.uint64] = np.frombuffer(self._range, dtype=np.uint64)
        self._address: int = self.words.ctypes.data
        self.show(fd)

    def show(self, fd: int) -> None:
        """Show the file through another opening of it; the former opening is let go."""
        self._put(mmap.MAP_SHARED | _MAP_NORESERVE, fd)

    def hide(self) -> None:
        """Show empty memory of this process; the opening shown before is let go."""
        self._put(_EMPTY, -1)

    def flush(self, size: int) -> None:
        """Bring the first `size` bytes to disk."""
        self._range.flush(0, size)

    def _put(self, flags: int, fd: int) -> None:
        # One step of the kernel: no thread ever finds a hole there.
        if _system_mmap()(self._address, self.words.nbytes, _PROT, flags | _MAP_FIXED, fd, 0) == _FAILED:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))


def private_memory(size: int, least: int | None) -> NDArray[np.uint64]:
    """Return zeros that only this process sees; pages are committed when first written.

    Parameters
    ----------
    size : int
        Bytes.
    least : int, optional
        A process of limited memory gets half of what fits, a power of two smaller than `size`, down to this.

    Raises
    ------
    OSError
        If so much address space is not to be had.
    """
    fits = False
    while True:
        try:
            mapping = _private(size)
        except OSError as error:
            if least is None or size <= least:
                text = f"{size:,} bytes of address space for a private arena are not to be had{_limits()}; "
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
    return np.frombuffer(mapping, dtype=np.uint64)


def _private(size: int) -> mmap.mmap:
    """Return private memory, of which pages are taken when they are written; Windows takes all at once."""
    if sys.platform == "win32":
        return mmap.mmap(-1, size)
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE)


def _limits() -> str:
    """Return what the process may map, where the system says."""
    if sys.platform == "win32":
        return ""
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    shown = ["unlimited" if limit == resource.RLIM_INFINITY else f"{limit:,}" for limit in limits]
    return f": the process may map {shown[0]} bytes (ulimit -v) and {shown[1]} of data (ulimit -d)"


@cache
def reserves_pages() -> bool:
    """Return whether the system can reserve memory through a mapping (MADV_POPULATE_WRITE, Linux 5.14)."""
    page = mmap.mmap(-1, mmap.PAGESIZE)
    try:
        page.madvise(_MADV_POPULATE_WRITE)
    except OSError:
        return False
    return True
