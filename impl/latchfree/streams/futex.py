"""Sleep in the kernel until a word changes, and wake who sleeps, across threads and processes: Linux's futex.

Example: `wait` sleeps while the word at an address is 7. Another process maps the same memory, changes the word to 8
and calls `wake`. A word that is 8 already lets nobody fall asleep, so nothing is missed between a look and the sleep.

The interpreter lock is released meanwhile, and a signal ends the sleep. Where the kernel has no futex, or a sandbox
forbids it, `wait` naps for a millisecond instead.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import sys
import time
from typing import Any, Final

_NUMBERS: Final = {"x86_64": 202, "aarch64": 98}
#: Not private to this process: the sleepers of others are woken, too.
_WAIT, _WAKE = 0, 1
_EVERYBODY: Final = (1 << 31) - 1
#: Seconds of a nap without the kernel's help.
_NAP: Final = 1e-3


class _Span(ctypes.Structure):
    """Seconds and nanoseconds."""

    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def _bound() -> Any:
    """Return the system call, or None where there is none."""
    if sys.platform != "linux" or platform.machine() not in _NUMBERS or sys.byteorder != "little":
        return None
    try:
        call = ctypes.CDLL(None, use_errno=True).syscall
    except (OSError, AttributeError):
        return None
    word = ctypes.c_uint32
    call.argtypes = (ctypes.c_long, ctypes.c_void_p, ctypes.c_int, word, ctypes.c_void_p, ctypes.c_void_p, word)
    call.restype = ctypes.c_long
    return call


class Futex:
    """The system call, for as long as the kernel does what it is asked.

    Attributes
    ----------
    works : bool
        Whether sleepers are woken, and do not nap.
    """

    def __init__(self) -> None:
        self._call = _bound()
        self._number = _NUMBERS.get(platform.machine(), 0)

    @property
    def works(self) -> bool:
        """Whether sleepers are woken, and do not nap."""
        return self._call is not None

    def wait(self, address: int, seen: int, seconds: float) -> None:
        """Sleep while the low 32 bits of a word are those of `seen`; it may end at any time.

        Parameters
        ----------
        address : int
            Of the word; where there is no memory any more, the sleep ends at once.
        seen : int
            What the word held when the caller last looked.
        seconds : float
            To sleep at most.
        """
        call = self._call
        if call is not None:
            whole = int(seconds)
            span = _Span(whole, int((seconds - whole) * 1e9))
            if call(self._number, address, _WAIT, seen & 0xFFFFFFFF, ctypes.byref(span), None, 0) == 0:
                return
            if ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM):
                return  # changed, interrupted, or the time has come
            self._call = None
        time.sleep(min(seconds, _NAP))

    def wake(self, address: int) -> None:
        """Wake all who sleep on the word at an address."""
        call = self._call
        if call is not None:
            call(self._number, address, _WAKE, _EVERYBODY, None, None, 0)


FUTEX: Final = Futex()
