"""Say in a few words what a main node holds, so that a trace tells which one was read.

Example: ``C k0=1 k2=3 +1`` is a C-node with two S-nodes and one child. `spec/mc/MCTrace.tla` says the same of the main
node that the specification reads. Which node of that content it was, and which I-nodes its children are, the numbers of
an event say (`latchfree_evidence.refinement.traces.nodes`).

A node is looked at when the run has ended. Whatever could be read in the run is still there then: a node is freed two
epochs after it was unlinked, and a run in which the epoch has moved so far is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from latchfree_evidence.refinement.labels import ctrie_actions, labels_at
from latchfree_explore.steps import Step
from latchfree_model.tlc.values import Function, Value

MAINS: Final = frozenset({"GcasReadMain", "CompleteRereadMain"})
"""Actions that read a main node; what they saw is what the node holds."""
_ADVANCE: Final = "Reclamation!AdvanceCas"
_KINDS: Final = ("C", "T", "L")
_GRACE: Final = 2
_VALUE_BITS: Final = 8


class TooLong(RuntimeError):
    """A run so long that nodes which it has read may have been freed."""


class Main(NamedTuple):
    """A main node: what it holds, in words, and the word offsets of the I-nodes below it, in the order of slots."""

    text: str
    children: tuple[int, ...] = ()


def mains_of(steps: Sequence[Step], words: Any) -> dict[int, Main]:
    """Describe each main node that a run has read.

    Parameters
    ----------
    steps : sequence of Step
        The accesses of the run, in their order.
    words : sequence of int
        The memory at the end of the run.

    Returns
    -------
    dict
        From the word offset of a node to what `main_at` says of it.

    Raises
    ------
    TooLong
        If the run is so long that nodes which it has read may have been freed.
    """
    if sum(step.succeeded and _ADVANCE in labels_at(step.site) for step in steps) >= _GRACE:
        raise TooLong(f"a run of {len(steps):,} accesses, in which memory may have been freed; make it shorter")
    return {step.old: main_at(words, step.old) for step in steps if ctrie_actions(step.site) & MAINS}


def main_at(words: Any, main: int) -> Main:
    """Describe the main node at a word offset: its kind, its S-nodes as ``key=value``, and how many children it has."""
    # Loaded here, since a mutant must be applied before.
    from latchfree.arena.kernels.node import KIND_SHIFT
    from latchfree.ctrie.kernels import shape
    from latchfree.ctrie.kernels.snode import VALUE

    kinds = {int(shape.C_NODE): "C", int(shape.T_NODE): "T", int(shape.L_NODE): "L"}
    tag, slots = int(shape.TAG), main + int(shape.SLOTS)
    kind = kinds.get(int(words[main]) >> int(KIND_SHIFT), "?")
    held: list[int] = []
    if kind == "C":
        held = [int(word) for word in words[slots : slots + int(words[main + int(shape.BITMAP)]).bit_count()]]
    elif kind == "T":
        held = [int(words[main + int(shape.TOMBED)])]
    elif kind == "L":
        first = main + int(shape.ENTRIES)
        held = [int(word) for word in words[first : first + int(words[main + int(shape.COUNT)])]]
    children = tuple(word & ~tag for word in held if word & tag)
    values = sorted(int(words[snode + int(VALUE)]) for snode in held if not snode & tag)
    pairs = [f"k{value >> _VALUE_BITS}={value & (1 << _VALUE_BITS) - 1}" for value in values]
    return Main(" ".join([kind, *pairs, *([f"+{len(children)}"] if children else [])]), children)


def main_value(text: str) -> Function:
    """Return the text of a `Main` as the record of the specification.

    Raises
    ------
    ValueError
        If the text has another form.
    """
    kind, *parts = text.split(" ")
    if kind not in _KINDS:
        raise ValueError(f"a main node is one of {', '.join(_KINDS)}, not {kind}")
    children = int(parts.pop()) if parts and parts[-1].startswith("+") else 0
    pairs: set[Value] = set()
    for part in parts:
        key, value = part.split("=")
        pairs.add((key, int(value)))
    return Function({"t": kind, "held": frozenset(pairs), "children": children})
