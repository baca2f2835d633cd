"""From the atomic accesses of a run to the steps of `Ctrie.tla`.

The label of an access says which action it is. Left out are accesses labelled with other modules or with ``none``, and
two ways of reading twice:

- A lookup first tries its luck without helping anybody. Where it gives that up it starts over, and what it has read up
  to there has no effect.
- A cleaner reads the main of the I-node below once more: a tomb, which is final.

A clear that finds a snapshot registered reads the old tree when it has emptied the trie, in order to retire what is
there. These reads are steps, too: `MCTrace.tla` has the clear read on.

The read of a null ``prev`` right after that of a main stays: whether it is a step is for the specification to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from latchfree_evidence.refinement.labels import ctrie_actions
from latchfree_evidence.refinement.traces.mains import MAINS, Main
from latchfree_evidence.refinement.traces.nodes import nodes_of
from latchfree_explore.steps import Step

_AFTER: Final = "GcasReadPrevAfter"
_STATUS: Final = ("UNDECIDED", "COMMIT", "ABORT")
_TRY: Final = "latchfree/ctrie/kernels/lookup.py"
"""Where lookups try their luck."""


@cache
def _tag() -> int:
    """Return the bit that marks a descriptor, or a failed node; the trie is loaded after a mutant was applied."""
    from latchfree.ctrie.kernels.shape import PENDING

    return int(PENDING)


class Event(NamedTuple):
    """One step: thread, action, what it saw; the access that it is, as "file:line"; and the numbers of its nodes."""

    thread: int
    action: str
    seen: str
    site: str
    nodes: tuple[int, ...] = ()

    def __str__(self) -> str:
        numbers = f" [{' '.join(map(str, self.nodes))}]" if self.nodes else ""
        return f"{self.action} of thread {self.thread}, which saw {self.seen}{numbers} ({self.site})"


def events_of(steps: Sequence[Step], mains: Mapping[int, Main]) -> list[Event]:
    """Return the steps of the specification among the accesses of a run, in their order.

    Parameters
    ----------
    steps : sequence of Step
        The accesses of the run, in their order.
    mains : mapping
        What each main node read holds, by word offset; see `latchfree_evidence.refinement.traces.mains`.

    Returns
    -------
    list of Event
    """
    helped = {step.call for step in steps if ctrie_actions(step.site) and not step.site.startswith(_TRY)}
    threads: dict[int, _Thread] = {}
    numbers: dict[int, int] = {}
    events = []
    for step in steps:
        actions = ctrie_actions(step.site)
        if not actions or (step.site.startswith(_TRY) and step.call in helped):
            continue
        action = threads.setdefault(step.thread, _Thread()).take(actions, step)
        if action:
            nodes = tuple(numbers.setdefault(node, len(numbers) + 1) for node in nodes_of(action, step, mains))
            events.append(Event(step.thread, action, _seen(action, step, mains), step.site, nodes))
    return events


class _Thread:
    """What of a thread's last steps tells whether it reads a tomb again.

    A cleaner first reads the main of an I-node and finds a tomb. It goes on with reading the same main once more, and
    so it does after each failed attempt, when it has read the root. Then it reads the main of the parent; if it finds
    nothing to do there, it reads that main again to see whether it is a tomb itself, and this is a step. Nobody else
    reads one main twice in a row.
    """

    def __init__(self) -> None:
        self._last = ""
        self._call = -1
        self._reading = self._tomb = -1  # words: the main it is reading, and that of the tomb
        self._again = self._parent = False  # whether the tomb's prev, or the parent's main, is read next

    def take(self, actions: frozenset[str], step: Step) -> str:
        """Return the action of the thread's next access; empty if it is no step."""
        if step.call != self._call:
            self._call, self._last, self._reading, self._tomb = step.call, "", -1, -1
            self._again = self._parent = False
        if self._again and actions == {"GcasReadPrev"}:
            self._again = False
            return ""
        if actions == {"GcasReadMain"}:
            word = -1 if step.at is None else step.at
            if word == self._reading or (self._last == "RdcssRead" and word == self._tomb):
                self._tomb, self._reading, self._again, self._parent = word, -1, True, True
                return ""
            self._reading = -1 if self._parent else word
            self._parent = False
        elif not all(action.startswith(("GcasReadPrev", "Complete")) and action != _AFTER for action in actions):
            self._reading = -1
        self._last = _action(actions, self._last)
        return self._last


def _action(actions: frozenset[str], last: str) -> str:
    """Return the action of an access whose label names several: a CAS of the root ends an RDCSS or aborts one."""
    if len(actions) == 1:
        return next(iter(actions))
    return "CompleteAbortRoot" if last == "CompleteAbortStatus" else "RdcssSwing"


def _seen(action: str, step: Step, mains: Mapping[int, Main]) -> str:
    if action in ("RdcssRead", "CompleteReadRoot"):
        return "descriptor" if step.old & _tag() else "I-node"
    if action in MAINS:
        return mains[step.old].text
    if action == "RdcssReadStatus":
        return _STATUS[step.old]
    if action in ("GcasReadPrev", "CompleteReadPrev", "GcasReadPrevAfter"):
        return "null" if step.old == 0 else "failed" if step.old & _tag() else "pending"
    if action == "RdcssDecide":
        return _STATUS[step.new] if step.succeeded else "no"
    return "yes" if step.succeeded else "no"
