"""The survivors that are argued to be equivalent: no run of any program can tell them from the code as it is.

Example: an entry says "only speed: ..." and names ten mutants. A mutant is named by file, function, kind of change and
text, so an edit of other lines leaves its entry valid. A test says that each entry still names a mutant there is.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).parent / "equivalents.toml"


def reasons() -> dict[str, str]:
    """Return mutant -> why it is equivalent, in one sentence."""
    document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: entry["reason"] for entry in document["equivalent"] for name in entry["mutants"]}
