"""Explore and replay our own structures by name, as they are or with a seeded bug."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from latchfree_evidence.mutants import apply_mutant
from latchfree_evidence.targets.finding import find_target
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
        For an unknown target or mutant, or as `latchfree_explore.explore`.
    RuntimeError
        If a mutant is asked for in a process that has loaded the structure already.

    Examples
    --------
    >>> explore("ctrie", scenario="put(1, 1) | put(1, 2) | get(1)").verdict
    'ok'
    """
    if mutant is not None:
        apply_mutant(mutant)
    result = explore_target(find_target(target) if isinstance(target, str) else target, **options)
    result.mutant = mutant
    return result


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
