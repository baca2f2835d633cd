"""The integers that operations become before they reach the compiled engines.

A row is ``(opcode, key, a, b, result)``. Values are small integers >= 0; ABSENT is no value (also: the register's
None, the empty string, the empty list). The result UNKNOWN fits anything, the result IMPOSSIBLE nothing.
"""

from typing import Final

# One key of a map; a register, a set's element and a mutex are the same with other names.
GET: Final = 0
PUT: Final = 1
REMOVE: Final = 2
PUT_IF_ABSENT: Final = 3
REPLACE_IF: Final = 4
REMOVE_IF: Final = 5
REPLACE: Final = 6
CONTAINS: Final = 7
# The whole map.
SNAPSHOT: Final = 8
SIZE: Final = 9
CLEAR: Final = 10
# A string.
APPEND: Final = 11
# A set's element: the result is a truth value.
INSERT: Final = 12
DELETE: Final = 13
# A counter: returns the old value.
ADD: Final = 14
# Lists, the next value to leave first. ENQUEUE's b is the capacity, or ABSENT.
PUSH: Final = 15
ENQUEUE: Final = 16
OFFER: Final = 17
TAKE: Final = 18
# A call of the user's own model: see `own`.
OWN: Final = 19

ABSENT: Final = -1
UNKNOWN_RESULT: Final = -2
IMPOSSIBLE: Final = -3

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
