"""Codes in the columns of a history that stand for no thing; compiled code knows them, and nothing else of columns."""

from typing import Final

NONE: Final = -1
"""None."""
MISSING: Final = -2
"""Nothing was given."""
