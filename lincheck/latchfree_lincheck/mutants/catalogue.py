"""The code mutants: what each replaces, and what makes it fail.

In the tries of the scenarios keys 0 and 1 share one child of the root and keys 2 and 3 another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

_PAIRS: Final = "keys: pairs"
_ONE_CHILD: Final = "init: put(0, 1); put(1, 1)"
_TWO_CHILDREN: Final = f"{_ONE_CHILD}; put(2, 1); put(3, 1)"
_OLD_AND_NEW_CHILD: Final = f"{_ONE_CHILD}; put(2, 1); snapshot(); put(3, 1)"

#: What runs ask for: one kind of memory is half the compiling; no more preemptions than any of these bugs needs.
_STRESS: Final = {"memory": "jittered", "operations": 5_000_000}
_EXPLORE: Final = {"strategy": "bounded", "bound": 3}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One seeded bug.

    Attributes
    ----------
    id : str
        Its name in the literature of this project, e.g. "S1".
    summary : str
        Where it was found and what goes wrong.
    replaces : tuple of str
        The functions it replaces, as "module:function".
    scenario : str or None
        A small program that it makes fail; None where the explorer cannot show it.
    switches : int
        The fewest context switches in a failing interleaving of the scenario, as its file argues.
    workload : dict
        Options of `run_stress` under which it is met soonest; empty if any will do.
    """

    id: str
    summary: str
    replaces: tuple[str, ...]
    scenario: str | None = None
    switches: int = 0
    workload: dict[str, Any] = field(default_factory=dict)

    @property
    def stress(self) -> dict[str, Any]:
        """Options of `run_stress` that make it meet the bug."""
        return {**_STRESS, **self.workload}

    @property
    def explore(self) -> dict[str, Any] | None:
        """Options of `explore` that make it find the bug, None where it cannot."""
        return None if self.scenario is None else {"scenario": self.scenario, **_EXPLORE}


MUTANTS: Final = {
    mutant.id: mutant
    for mutant in (
        Mutant(
            "S1",
            "Scala 2.12/2.13, Workiva: renewing a C-node copies children already renewed; a completed put is lost",
            ("latchfree.ctrie.cnode:renewed",),
            scenario=f"{_OLD_AND_NEW_CHILD} | get(0) | put(2, 2) | after: get(2) | {_PAIRS}",
            switches=2,
        ),
        Mutant(
            "S2",
            "Scala 2.12, Workiva: an RDCSS is marked committed after the root has moved; a clear is applied twice",
            ("latchfree.ctrie.gcas:rdcss_complete", "latchfree.ctrie.root:abort_root"),
            scenario="init: put(0, 1) | clear() | put(0, 2) | after: get(0)",
            switches=4,
        ),
        Mutant(
            "W1",
            "Workiva: a snapshot rereads the root after it was installed; later writes show up in it",
            ("latchfree.ctrie.snapshot:freeze",),
            scenario=f"{_TWO_CHILDREN} | snapshot() | put(0, 2); put(2, 2) | {_PAIRS}",
            switches=4,
        ),
        Mutant(
            "W2",
            "Workiva: removing from an L-node reports 'absent' when its GCAS failed",
            ("latchfree.ctrie.remove:remove",),
            scenario="init: put(0, 1); put(1, 1); put(2, 1) | remove(0) | put(1, 2) | keys: list",
            switches=2,
        ),
        Mutant(
            "W3",
            "Workiva: cleaning drops a C-node's generation; the next insert copies live children, and a put is lost",
            ("latchfree.ctrie.cnode:compressed", "latchfree.ctrie.insert:_main_with"),
            scenario=f"{_TWO_CHILDREN} | remove(1); put(2, 2) | put(0, 2) | after: get(2) | {_PAIRS}",
            switches=3,
        ),
        Mutant(
            "W4",
            "Workiva: cleaning resurrects a tomb that is not committed; its removal then fails and reports 'absent'",
            ("latchfree.ctrie.cnode:compressed",),
            scenario=f"{_TWO_CHILDREN} | remove(1) | remove(3) | get(2); size() | {_PAIRS}",
            switches=4,
            workload={"shape": "pairs", "threads": 6, "keys": 24},
        ),
        Mutant(
            "L1a",
            "Workiva: a second put into an L-node adds the key once more; removing it brings back its first value",
            ("latchfree.ctrie.lnode:with_entry",),
            scenario="init: put(0, 1); put(1, 1) | put(0, 2); remove(0); get(0) | keys: list",
            switches=0,
        ),
        Mutant(
            "L1b",
            "Workiva: reading a snapshot passes over T-nodes; a key that is there is missing",
            ("latchfree.ctrie.scan:next_slot",),
            scenario=f"{_ONE_CHILD} | remove(1) | size() | {_PAIRS}",
            switches=2,
        ),
        Mutant(
            "N1",
            "textbook: compare-and-swap without I-nodes; an insert below a C-node that is being copied is lost",
            ("latchfree.ctrie.cnode:inserted",),
            scenario=f"{_ONE_CHILD} | put(2, 1) | put(0, 2) | after: get(0) | {_PAIRS}",
            switches=2,
        ),
        Mutant(
            "N2",
            "textbook: contraction without T-nodes; an insert below a node that is being unlinked is lost",
            ("latchfree.ctrie.cnode:removed_contracted", "latchfree.ctrie.remove:remove"),
            scenario=f"{_ONE_CHILD} | remove(1) | put(1, 2) | after: get(1) | {_PAIRS}",
            switches=2,
        ),
        Mutant(
            "T1",
            "the recorder: an operation's return ticket is taken before the operation; correct runs look wrong",
            ("latchfree_lincheck.stress.worker:invoked", "latchfree_lincheck.stress.worker:returned"),
        ),
    )
}
