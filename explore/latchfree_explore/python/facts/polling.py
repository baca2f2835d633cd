"""Where the interpreter polls for a change of threads: the model "gil", a table for each version of CPython.

Since 3.10 CPython lets another thread run only where it looks at the *eval breaker*: when a Python function is entered
or a generator resumed, at a jump back, after a call into C, and where a call blocks. Between two reads of attributes it
does not look. So ``v = self.n; self.n = v + 1`` loses no update on these versions, and does with ``v = int(self.n)``.
`tests/explore/python/test_polling.py` runs real threads against each row.

The model "free" needs no table: any access may come between any two. That is what the language promises, and what
free-threaded builds do.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Rules:
    """Where one version polls.

    Attributes
    ----------
    on_entry : bool
        When a Python function is entered.
    on_jump_back : bool
        At the end of each round of a loop.
    after_c_call : bool
        After a call of a function in C.
    after_python_call : bool
        After a call of a function in Python whose body was one step.
    """

    on_entry: bool = True
    on_jump_back: bool = True
    after_c_call: bool = True
    after_python_call: bool = True


TABLE: Final = {
    (3, 11): Rules(),
    (3, 12): Rules(),
    (3, 13): Rules(),
    (3, 14): Rules(),
}
"""Measured versions; a later one is taken to poll as the last of them."""


def rules_of(version: tuple[int, int]) -> Rules:
    """Return the rules of a version."""
    return TABLE.get(version, TABLE[max(TABLE)])


RULES: Final = rules_of((sys.version_info[0], sys.version_info[1]))
