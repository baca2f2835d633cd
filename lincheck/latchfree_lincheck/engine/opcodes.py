"""The integers that operations become before they reach the compiled search.

A row is ``(opcode, key, a, b, result)``. Values are small integers >= 0; ABSENT is no value (also: the register's
None, the empty string). The result UNKNOWN fits anything, the result NEVER nothing.
"""

from typing import Final

GET: Final = 0
PUT: Final = 1
REMOVE: Final = 2
PUT_IF_ABSENT: Final = 3
REPLACE_IF: Final = 4
REMOVE_IF: Final = 5
REPLACE: Final = 6
CONTAINS: Final = 7
SNAPSHOT: Final = 8
SIZE: Final = 9
CLEAR: Final = 10
APPEND: Final = 11

ABSENT: Final = -1
UNKNOWN_RESULT: Final = -2
NEVER: Final = -3

NAMES: Final = (
    "get",
    "put",
    "remove",
    "put_if_absent",
    "replace_if",
    "remove_if",
    "replace",
    "contains",
    "snapshot",
    "size",
    "clear",
)
"""The map model's name of each opcode."""
