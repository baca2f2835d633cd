"""Compare who has died: the fates of nodes in a state of `MCRetirement.tla`, and what the code has retired.

Example: a put has committed, and its process has seen that. In the state the old main is dead; in the code the offset
of the old main is in the limbo of that thread. If the limbo had the offset one access earlier, or the offset of another
node, or the same offset twice, there would be a difference.

Invariant: after each step, the nodes that the code has retired since the first state are those that are dead in the
specification. A node of the specification is known by its offset as long as it can be reached from the root, or from
what a process is going to replace or to undo; published, it leaves this set only by dying, unless it is lost, and the
state says whether one is lost. A node that was never published is never retired.

Beside the fates stand these, which the specification does not know:

- the birth of a new node is the generation of the I-node that it is installed in;
- the place: the newest snapshot before the death has the node on its deadlist if the node was born by then; otherwise
  the node is in the limbo of the thread that has retired it. The death is that generation, too; for a snapshot, the
  generation of the new root. Snapshots are those that the code has registered, and those that the specification has
  taken and still reads.
- a node is freed only after it was retired, and never while a thread is about to touch the node.

S-nodes are values in the specification. Of them it is checked that none is listed twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from latchfree.arena.kernels import node as arena_node
from latchfree.ctrie.kernels import gcas, shape
from latchfree_evidence.refinement.bridge.comparison import Comparison, Difference
from latchfree_evidence.refinement.bridge.limbo import Place, retired, snapshots

_BIRTH: Final = int(arena_node.BIRTH_MASK)
_KIND_SHIFT: Final = int(arena_node.KIND_SHIFT)
_KNOWN: Final = {int(shape.I_NODE), int(shape.C_NODE), int(shape.T_NODE), int(shape.L_NODE), int(shape.RDCSS)}
_FILLED: Final = ("GcasCas", "RdcssInstall")
"""Where a process is about to install what it has made: the access tells what the registers of the attempt are."""

_CARRIED: Final = ("n", "old", "rd")
"""Registers that keep nodes of an attempt: each is known from the step that fills it until the step that empties it."""


def has_fates(heap: Mapping[str, Any]) -> bool:
    """Whether a memory of the specification says of each node if it is dead."""
    return "fate" in heap["node"][0]


class Fates:
    """Who has died on the way along one tour, in the specification and in the code.

    Parameters
    ----------
    words : sequence of int
        The memory of the code.
    trie : int
        The word offset of the trie's root node.
    processes : sequence of str
        The processes, in the order of their threads.

    Attributes
    ----------
    deaths, freed : int
        How many nodes the code has retired and freed so far, S-nodes not counted.
    """

    def __init__(self, words: Sequence[int], trie: int, processes: Sequence[str]) -> None:
        self._words, self._trie, self._processes = words, trie, processes
        self._before = {x for x, _ in self._listed()}
        """Retired before the first state."""
        self._retired: dict[int, Place] = {}
        self._fates: dict[int, str] = {}
        self._carried: list[dict[str, int]] = [{} for _ in processes]
        self._death = [0] * len(processes)
        self._snapshot = [0] * len(processes)
        """The generation that a process is about to freeze, or has frozen."""
        self._frozen: list[int] = []
        self._twice: int | None = None
        self.deaths = self.freed = 0

    def _listed(self) -> Iterable[tuple[int, Place]]:
        return retired(self._words, self._trie, len(self._processes))

    def _is_known(self, x: int) -> bool:
        return self._words[x] >> _KIND_SHIFT in _KNOWN

    def _birth(self, x: int) -> int:
        return self._words[x] & _BIRTH

    def observe(self, thread: int) -> set[int]:
        """Note what `thread` has retired since the last look, and return all that is listed."""
        seen: set[int] = set()
        for x, place in self._listed():
            if x in seen:
                if not self._is_known(x):
                    raise Difference(f"the code has retired word {x}, which is no node of the specification, twice")
                self._twice = x
            seen.add(x)
            if x not in self._retired and x not in self._before and self._is_known(x):
                self._retired[x] = place
                self.deaths += 1
                self._check_place(thread, x, place)
        return seen

    def _check_place(self, thread: int, x: int, place: Place) -> None:
        taken = [*snapshots(self._words, self._trie), *self._frozen]
        seen = max((snapshot for snapshot in taken if snapshot < self._death[thread]), default=0)
        wanted = Place(-1, seen) if self._birth(x) <= seen else Place(thread, 0)
        if place != wanted:
            raise Difference(
                f"the code has put node {x}, born in {self._birth(x)} and dead in {self._death[thread]}, on {place}; "
                f"it belongs on {wanted}"
            )

    def carry(self, comparison: Comparison, registers: Mapping[str, Any]) -> None:
        """Note in a comparison what the registers of an attempt under way stand for."""
        for process, carried in zip(self._processes, self._carried, strict=True):
            fresh = registers[process]["pc"] in _FILLED
            for name, x in carried.items():
                if registers[process][name] and not fresh:
                    comparison.same(registers[process][name], x, f"{process}: {name}")

    def compare(self, thread: int, state: Mapping[str, Any], comparison: Comparison) -> None:
        """Compare a state, whose memory `comparison` has gone through, after a step of `thread`."""
        heap = state["mem"]
        now = {x: heap["node"][a - 1]["fate"] for a, x in comparison.addresses.items() if a}
        listed = self.observe(thread)
        freed = [x for x in self._retired if x not in listed]
        self.freed += len(freed)
        self._check_freed(freed, now)
        self._keep_attempts(state["L"], comparison.addresses)
        self._frozen = [
            snapshot
            for process, snapshot in zip(self._processes, self._snapshot, strict=True)
            if _has_frozen(state["L"][process], heap["node"])
        ]
        self._die(now)
        self._same_dead(heap)
        for x in freed:
            if self._fates.get(x) == "dead":
                del self._fates[x], self._retired[x]
        self._before &= listed

    def _check_freed(self, freed: Iterable[int], now: Mapping[int, str]) -> None:
        """Raise if something freed is in use, except as a new node."""
        for x in freed:
            if now.get(x) == "made" and self._fates.get(x) == "dead":
                del self._fates[x], self._retired[x]
            elif x in now:
                raise Difference(f"the code has freed the node at word {x}, which a thread may still touch")

    def _die(self, now: Mapping[int, str]) -> None:
        """Take the fates over: what was published and is not to be seen any more has died."""
        gone = {x: "dead" for x, fate in self._fates.items() if x not in now and fate != "made"}
        self._fates = {**gone, **now}

    def _same_dead(self, heap: Mapping[str, Any]) -> None:
        dead = {x for x, fate in self._fates.items() if fate == "dead"}
        early = self._retired.keys() - dead
        if early:
            x = min(early)
            raise Difference(
                f"the code has retired the {_name(self._words[x])} at word {x}, which is "
                f"{self._fates.get(x, 'not published')} in the specification"
            )
        late = dead - self._retired.keys()
        if late and not heap["lost"]:
            x = min(late)
            raise Difference(f"the {_name(self._words[x])} at word {x} is dead, but the code has not retired it")
        if heap["lost"] and not late:
            raise Difference("the specification has lost a node, but the code has retired every one")
        if heap["twice"] != (self._twice is not None):
            raise Difference(
                "the specification has retired a node twice, the code has not"
                if heap["twice"]
                else f"the code has retired the node at word {self._twice} twice"
            )

    def _keep_attempts(self, registers: Mapping[str, Any], code: Mapping[int, int]) -> None:
        """Keep what each attempt has made and is going to replace, and with which generation that will die."""
        for thread, process in enumerate(self._processes):
            regs, carried = registers[process], self._carried[thread]
            for name in _CARRIED:
                if not regs[name] or (name == "rd" and regs["rret"] != "own"):
                    carried.pop(name, None)
                elif regs[name] in code:
                    carried[name] = code[regs[name]]
            if regs["pc"] == "GcasCas":
                self._check_births(code[regs["gi"]], [code[a] for a in regs["made"]])
                self._death[thread] = self._birth(code[regs["gi"]])
            elif regs["pc"] == "RdcssInstall":
                descriptor = code[regs["rd"]]
                new = self._words[descriptor + int(gcas.NEW)]
                self._check_births(new, [code[a] for a in regs["made"]])
                self._death[thread] = self._birth(new)
                self._snapshot[thread] = self._birth(self._words[descriptor + int(gcas.OLD)])

    def _check_births(self, i: int, made: Iterable[int]) -> None:
        for x in made:
            if self._birth(x) != self._birth(i):
                raise Difference(
                    f"the {_name(self._words[x])} at word {x} is born in generation {self._birth(x)}, but its I-node "
                    f"is of {self._birth(i)}"
                )


def _has_frozen(regs: Mapping[str, Any], nodes: Sequence[Any]) -> bool:
    """Whether a process has taken a snapshot that it still reads: its own descriptor is committed, or it reads."""
    if regs["rd"] and regs["rret"] == "own":
        return bool(nodes[regs["rd"] - 1]["status"] == "COMMIT")
    return bool(regs["held"]) and regs["pc"] != "idle"


def _name(header: int) -> str:
    kind = header >> _KIND_SHIFT
    return {
        int(shape.I_NODE): "I-node",
        int(shape.C_NODE): "C-node",
        int(shape.T_NODE): "T-node",
        int(shape.L_NODE): "L-node",
        int(shape.RDCSS): "descriptor",
    }.get(kind, "node")
