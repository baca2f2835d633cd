"""Explore and replay our own structures by name, as they are or with a seeded bug."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from latchfree_evidence.mutants import MUTANTS, apply_mutant
from latchfree_evidence.targets.finding import BUILT_IN, find_target
from latchfree_explore import Exploration, Target
from latchfree_explore import explore as explore_target
from latchfree_explore import replay as replay_target
from latchfree_explore.replay_files import read, validated


def explore(target: str | Target = "ctrie", *, mutant: str | None = None, **options: Any) -> Exploration:
    """Run the compiled code of a structure through many interleavings and judge what its operations return.

    Parameters
    ----------
    target : str or Target
        "ctrie", "topic-trie", "ring" or another name of `latchfree_evidence.targets.finding.BUILT_IN`, a "FILE.py" or
        "FILE.py:NAME" that declares a target, or a target.
    mutant : str, optional
        A seeded bug, see `latchfree_evidence.mutants`. This must be the first use of the structure in the process.
    **options
        As for `latchfree_explore.explore`.

    Returns
    -------
    Exploration

    Raises
    ------
    ValueError
        For an unknown target or mutant, a mutant of another structure, or as `latchfree_explore.explore`.
    RuntimeError
        If a mutant is asked for in a process that has loaded the structure already.

    Examples
    --------
    >>> explore("ctrie", scenario="put(1, 1) | put(1, 2) | get(1)").verdict
    'ok'
    """
    if mutant is not None:
        _require_its_target(mutant, target)
        apply_mutant(mutant)
    result = explore_target(find_target(target) if isinstance(target, str) else target, **options)
    result.mutant = mutant
    return result


#: Targets that run the code of another target.
_SAME_CODE: Final = {
    "reclaiming-ctrie": "ctrie",
    "dropping": "ctrie",
    "idle": "ctrie",
    "weak-ring": "ring",
    "closing-ring": "ring",
}


def _require_its_target(mutant: str, target: str | Target) -> None:
    """Raise ValueError for a mutant of another structure: exploring this one would say that nothing is wrong."""
    if mutant not in MUTANTS or target not in BUILT_IN:
        return
    its = MUTANTS[mutant].target
    if its not in (target, _SAME_CODE.get(str(target))):
        raise ValueError(f"mutant {mutant} is one of {its}, not of {target}; fix: explore {its}")


def replay(case: str | Path | dict[str, Any]) -> Exploration:
    """Run the schedule of a replay file, or of its content, again; see `latchfree_explore.replay`.

    Raises
    ------
    ReplayError
        If `case` is no replay.
    RuntimeError
        If `case` is about a mutant and this process has loaded the structure already.
    """
    document = validated(case, "replay") if isinstance(case, dict) else read(Path(case))
    if document.get("mutant") is not None:
        apply_mutant(document["mutant"])
    return replay_target(document, find=find_target)
