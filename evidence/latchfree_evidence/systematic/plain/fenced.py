"""Memory that ends where no byte can be read: whoever reads past the end ends the process.

Example: the text of a topic is the last in its column. A kernel that reads eight bytes where three are left gets the
right answer, and on the last page of a mapping the program dies. Behind a fence the program dies each time.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any, Final

import numpy as np

_NONE: Final = 0  # PROT_NONE


class Fenced:
    """Bytes with a page behind them that nobody may touch.

    Parameters
    ----------
    data : bytes
        What the memory holds.

    Attributes
    ----------
    address : int
        Of the first byte.
    array : ndarray of uint8
        The bytes.
    """

    def __init__(self, data: bytes) -> None:
        page = mmap.PAGESIZE
        room = -(-max(1, len(data)) // page) * page
        self._map = mmap.mmap(-1, room + page)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        libc: Any = ctypes.CDLL(None, use_errno=True)
        if libc.mprotect(ctypes.c_void_p(base + room), ctypes.c_size_t(page), _NONE):
            raise OSError(ctypes.get_errno(), "mprotect")
        self.address = base + room - len(data)
        self.array = np.frombuffer(self._map, np.uint8, len(data), room - len(data))
        self.array[:] = np.frombuffer(data, np.uint8)
