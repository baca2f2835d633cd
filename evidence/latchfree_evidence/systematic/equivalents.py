"""The survivors with a reason: what a mutant is that no check tells from the code.

Example: an entry says "What follows decides the update, or helps, and comes to the same answer." and names five mutants
that are only slower. A mutant is named by file, function, kind of change and text, so an edit of other lines leaves its
entry valid. A test says that each entry still names a mutant there is.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).parent / "equivalents.toml"

#: What a survivor may be, and what each word means.
KINDS: Final = {
    "same": "no run of any program tells the mutant from the code",
    "slower": "every answer is the same, but time is lost, or memory comes back later, or there is a little less of it",
    "allowed": "a run can tell, and finds what is documented all the same",
}


def reasons() -> dict[str, str]:
    """Return mutant -> why no check needs to tell it from the code, in a sentence or two."""
    document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: entry["reason"] for entry in document["equivalent"] for name in entry["mutants"]}


def kinds() -> dict[str, str]:
    """Return mutant -> what it is, one of `KINDS`."""
    document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: entry["kind"] for entry in document["equivalent"] for name in entry["mutants"]}
