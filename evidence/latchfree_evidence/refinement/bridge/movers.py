"""Tell who has taken a step of a model of the Ctrie, where several processes stand before the same action.

Example: both ``s`` and ``w`` are about to read a main. In the next state ``s`` holds node 8 where it held node 7, and
``w`` node 9 where it held 8. One of the two has moved; the other only holds a node that has got another address, since
nodes are renumbered after every step. If the new 8 is the old 7, and the new 9 the old 8, then nothing contradicts
that ``w`` has stayed.

Invariant: whoever has not moved has the same registers but for addresses, and what an old address stands for looks in
the new state as it did: fields that never change are the same, again but for addresses, and after a step that only
reads all fields are. So a process is ruled out if the others cannot all have stayed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

_ADDRESSES: Final = ("gi", "gm", "gp", "n", "rd", "ad", "src", "held", "old")
_SEQUENCES: Final = ("path", "todo", "made")
_SLOTS: Final = "acc"
_NUMBERED: Final = frozenset({*_ADDRESSES, *_SEQUENCES, _SLOTS, "sg"})
_FINAL: Final = ("ov", "exp", "nv")
_WRITTEN: Final = ("main", "prev")
_READS: Final = frozenset({
    "RdcssRead", "RdcssReadStatus", "GcasReadMain", "GcasReadPrev", "CompleteReadPrev", "CompleteReadRoot",
    "CompleteRereadMain",
})  # fmt: skip
"""Actions that write nothing; what they allocate nobody has met."""


def can_have_moved(action: str, before: Mapping[str, Any], after: Mapping[str, Any], able: Iterable[str]) -> list[str]:
    """Return those of the processes `able` that can have led from one state to the other.

    Parameters
    ----------
    action : str
        The action of the step.
    before, after : mapping
        The variables of the two states.
    able : iterable of str
        The processes that stand before the action.

    Returns
    -------
    list of str
        Whoever has moved is among them.
    """
    registers, later, reads = before["L"], after["L"], action in _READS
    return [
        process
        for process in able
        if _stay([each for each in registers if each != process], registers, later, before["mem"], after["mem"], reads)
    ]


def _stay(stayed: Sequence[str], registers: Any, later: Any, heap: Any, new: Any, reads: bool) -> bool:
    """Whether these processes can all have stayed."""
    pairs: list[tuple[int, int]] = [(heap["root"], new["root"])] if reads else []
    for process in stayed:
        old, now = registers[process], later[process]
        if any(old[name] != now[name] for name in old if name not in _NUMBERED):
            return False
        pairs += [(old[name], now[name]) for name in _ADDRESSES if name in old]
        for name in _SEQUENCES:
            if name in old:
                if len(old[name]) != len(now[name]):
                    return False
                pairs += zip(old[name], now[name], strict=True)
        if not _same_slots(old[_SLOTS], now[_SLOTS], pairs):
            return False
    return _one_to_one(pairs, heap["node"], new["node"], (*_FINAL, *_WRITTEN) if reads else _FINAL)


def _same_slots(old: Sequence[Any], now: Sequence[Any], pairs: list[tuple[int, int]]) -> bool:
    """Whether slots hold the same but for addresses; the addresses are added to the pairs."""
    if len(old) != len(now):
        return False
    for one, other in zip(old, now, strict=True):
        if len(one) == len(other) == 1:
            pairs.append((one[0], other[0]))
        elif one != other:
            return False
    return True


def _one_to_one(pairs: list[tuple[int, int]], nodes: Sequence[Any], new: Sequence[Any], links: Sequence[str]) -> bool:
    """Whether each old address stands for one new address, and what cannot have changed is the same there."""
    names: dict[int, int] = {0: 0}
    back: dict[int, int] = {0: 0}
    while pairs:
        one, other = pairs.pop()
        if (one < 0) != (other < 0):
            return False
        one, other = abs(one), abs(other)
        if names.get(one, other) != other or back.get(other, one) != one:
            return False
        if one in names:
            continue
        names[one], back[other] = other, one
        node, now = nodes[one - 1], new[other - 1]
        if any(node.get(field) != now.get(field) for field in ("t", "snode", "entries")):
            return False
        pairs += [(node[field], now[field]) for field in links if field in node]
        if "slot" in node and not _same_slots(node["slot"], now["slot"], pairs):
            return False
    return True
