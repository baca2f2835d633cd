"""The last task: a bug for each student, drawn by number, so that nobody can copy from a neighbour.

Example: `drawn(4711)` is a known bug, the same one in every run. Students get its name, and do not see its story.
"""

from __future__ import annotations

import hashlib

from latchfree_evidence import MUTANTS, Mutant


def drawn(number: int) -> Mutant:
    """Return the bug of a student's number.

    Parameters
    ----------
    number : int
        Any whole number from 0, such as that on a student's card.

    Raises
    ------
    ValueError
        If it is negative.
    """
    if number < 0:
        raise ValueError(f"a student's number is at least 0, got {number}")
    known = [mutant for mutant in MUTANTS.values() if mutant.scenario is not None]
    digest = hashlib.sha256(f"latchfree capstone {number}".encode()).digest()
    return known[int.from_bytes(digest[:8], "big") % len(known)]


def answers() -> str:
    """Return what the bugs are, and what a full answer reaches, for teachers."""
    lines = [
        "# The last task: answers",
        "",
        "`drawn(4711).id` says which bug the student with the number 4711 has; `drawn` is in",
        "`latchfree_teach.course.capstone`.",
        "",
        "| bug | what goes wrong | a smallest scenario | changes of threads |",
        "|---|---|---|---:|",
    ]
    for mutant in MUTANTS.values():
        if mutant.scenario is not None:
            scenario = mutant.scenario.replace("|", "\\|")
            lines.append(f"| {mutant.id} | {mutant.summary} | `{scenario}` | {mutant.switches} |")
    return "\n".join(lines) + "\n"
