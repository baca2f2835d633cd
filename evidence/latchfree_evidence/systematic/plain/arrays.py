"""Arrays as kernels take and make them, in plain Python: elements are ints, and no index is out of range.

Example: a kernel writes ``out[k] = word`` to an array of int64 that its caller gave it. The caller finds the word as a
signed number, as after a call of compiled code. An index that is too large raises, where compiled code would write to
memory of somebody else.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

_POISON: Final = 0xF5EE
_MOST_BYTES: Final = 1 << 24


class View:
    """An array of one dimension, or of two.

    Parameters
    ----------
    array : ndarray
        C-contiguous.

    Attributes
    ----------
    data : int
        The address of the first element; `ctypes` is the view itself, so ``view.ctypes.data`` is the address, too.
    """

    __slots__ = ("_array", "_items", "_mask", "_sign", "ctypes", "data")

    def __init__(self, array: Any) -> None:
        self._array = array
        self._items: Any = memoryview(array) if array.ndim == 1 else None
        self.data = array.ctypes.data
        self.ctypes = self
        bits = 8 * array.itemsize
        self._mask = (1 << bits) - 1
        self._sign = 1 << (bits - 1) if array.dtype.kind == "i" else 0

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return View(self._array[at])
        if self._items is None:
            return View(self._array[at]) if not isinstance(at, tuple) else int(self._array[at])
        if at < -1:  # the last one is asked for by -1, in compiled code, too
            raise IndexError(f"index {at}")
        return int(self._items[at])

    def __setitem__(self, at: Any, value: int) -> None:
        if self._items is None:
            self._array[at] = value
            return
        if at < 0:
            raise IndexError(f"index {at}")
        word = int(value) & self._mask
        self._items[at] = word - ((word & self._sign) << 1) if self._sign else bool(word) if self._is_bool else word

    @property
    def _is_bool(self) -> bool:
        return bool(self._array.dtype.kind == "b")


def view_of(thing: Any) -> View:
    """Return a view of an object with a buffer; no trial needs a large one."""
    array = np.asarray(thing)
    if array.nbytes > _MOST_BYTES:
        raise AssertionError(f"an array of {array.nbytes:,} bytes: somebody asks for more and more room")
    return View(array)


class Numpy:
    """What stands for numpy in a translated kernel: its arrays are views, and memory that was never written is none."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def zeros(shape: Any, kind: Any) -> View:
        """Return an array of zeros."""
        return View(np.zeros(shape, kind))

    @staticmethod
    def empty(shape: Any, kind: Any) -> View:
        """Return an array of something."""
        return View(np.full(shape, _POISON, kind))


NUMPY: Final = Numpy()
