"""Say which nodes an access has touched, so that of two nodes of equal content a trace tells which one was read.

Example: a put replaces ``C k0=1`` by another ``C k0=1``. A thread that still works with the first one reads the
``prev`` of the first, and the numbers of the two differ.

A node is known by its word offset: no memory is used twice in a run that is recorded. A log numbers the nodes in the
order in which it meets them. `spec/mc/MCTrace.tla` gives each node of the specification an identity when it is made,
and keeps which number stands for which identity: a number that would stand for two, or two for one, is a difference.
Only nodes are numbered that others can see: what a failed attempt has made, its thread makes anew in the same place.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from latchfree_evidence.refinement.traces.mains import MAINS, Main
from latchfree_explore.steps import Step


class _Places(NamedTuple):
    main: int
    prev: int
    status: int
    plain: int


@cache
def _places() -> _Places:
    """Where the words of a node are; the trie is loaded after a mutant was applied."""
    from latchfree.ctrie.kernels import gcas, shape

    return _Places(int(shape.MAIN), int(shape.PREV), int(gcas.STATUS), int(shape.UNTAG))


def nodes_of(action: str, step: Step, mains: Mapping[int, Main]) -> tuple[int, ...]:
    """Return the word offsets of the nodes that an access shows, in the order in which `MCTrace.tla` lists them.

    Parameters
    ----------
    action : str
        The action of `Ctrie.tla` that the access is.
    step : Step
        The access.
    mains : mapping
        The main nodes that the run has read.
    """
    words = _places()
    at = -1 if step.at is None else step.at
    old, new = step.old & words.plain, step.new & words.plain
    match action:
        case "RdcssRead" | "CompleteReadRoot":
            return (old,)
        case "RdcssInstall":
            return (new,) if step.succeeded else ()
        case "RdcssSwing" | "CompleteAbortRoot":
            return (old, new) if step.succeeded else ()
        case "RdcssReadStatus" | "RdcssDecide" | "CompleteAbortStatus":
            return (at - words.status,)
        case "GcasCas" | "CompleteRollback":
            return (at - words.main, old, new) if step.succeeded else (at - words.main,)
        case _ if action in MAINS:
            return (at - words.main, old, *mains[old].children)
        case _:
            return (at - words.prev,)
