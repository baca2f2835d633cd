"""`Mutant`: what is known of one seeded bug."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

#: What runs ask for: one kind of memory is half the compiling; no more preemptions than any of these bugs needs.
_STRESS: Final = {
    "ctrie": {"memory": "jittered", "operations": 5_000_000},
    "topic-trie": {"memory": "jittered", "operations": 1_000_000},
}
_FOLDERS: Final = {
    "ctrie": "ctrie", "idle": "ctrie", "topic-trie": "topics", "ring": "ring", "epochs": "arena", "free-list": "arena",
    "bloom": "sketches", "counting-bloom": "sketches", "scalable-bloom": "sketches", "stable-bloom": "sketches",
    "inverse-bloom": "sketches", "hyperloglog": "sketches", "minhash": "sketches", "count-min": "sketches",
    "top-k": "sketches", "kll": "sketches",
}  # fmt: skip
_EXPLORE: Final = {"strategy": "bounded", "bound": 3}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One seeded bug.

    Attributes
    ----------
    id : str
        Its name in the literature of this project, e.g. "S1".
    published : str or None
        Where the bug was published, e.g. "Workiva"; None for a bug of our own.
    summary : str
        What goes wrong.
    replaces : tuple of str
        The functions it replaces, as "module:function".
    scenario : str or None
        A small program that it makes fail; None where the explorer cannot show it.
    switches : int
        The fewest context switches in a failing interleaving of the scenario, as its file argues.
    workload : dict
        Options of `run_stress` under which it is met soonest; empty if any will do.
    target : str
        What it is a mutant of.
    failure : str
        What kind of failure the explorer finds.
    folder : str
        Where its file is; empty for the folder of its target.
    frees : bool
        Whether it frees nodes too early, or shows only where nodes are freed; then it runs on poisoned memory, where a
        use after free is a verdict.
    """

    id: str
    published: str | None
    summary: str
    replaces: tuple[str, ...]
    scenario: str | None = None
    switches: int = 0
    workload: dict[str, Any] = field(default_factory=dict)
    target: str = "ctrie"
    failure: str = "not linearizable"
    folder: str = ""
    frees: bool = False

    @property
    def source(self) -> str:
        """The module of the functions it puts in their place, below `latchfree_evidence.mutants`."""
        return f"{self.folder or _FOLDERS[self.target]}.{self.id.lower()}"

    @property
    def stress(self) -> dict[str, Any] | None:
        """Options of `run_stress` that make it meet the bug, None where there is no such run."""
        memory = {"memory": "poisoned"} if self.frees else {}
        return {**_STRESS[self.target], **memory, **self.workload} if self.target in _STRESS else None

    @property
    def explore(self) -> dict[str, Any] | None:
        """Options of `explore` that make it find the bug, None where it cannot."""
        return None if self.scenario is None else {"scenario": self.scenario, **_EXPLORE}
