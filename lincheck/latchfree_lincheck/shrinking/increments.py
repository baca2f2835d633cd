"""Merge the increments of a counter that nobody could tell apart.

An *observer* is a completed call whose result is known: a read, or an add that returned what was there before. Take
completed adds that are no observers, that no observer overlaps, and that lie between the same observers. One add of
their sum, invoked when the first of them was and returning when the last of them did, stands for them all.

Take a linearization of the whole history. No observer lies between two of the adds in it, as none overlaps the time
from the first invocation to the last return; everything else there observes nothing, and adds commute. So all of them
may move to the place of any one, and their sum may stand there.

To leave few observers, results are forgotten first, which is always sound.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import count

from latchfree_lincheck.history import Operation
from latchfree_model import UNKNOWN


def observes(operation: Operation) -> bool:
    """Return whether a completed call of a counter says what the counter held."""
    known = operation.result is not UNKNOWN and not (operation.f == "add" and operation.result is None)
    return known and operation.return_ is not None


def forgotten(operations: Sequence[Operation], chosen: Collection[int]) -> list[Operation]:
    """Return the operations, the results of those at the chosen positions forgotten."""
    return [replace(each, result=UNKNOWN) if at in chosen else each for at, each in enumerate(operations)]


def merged(operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations, adds that nobody could tell apart as one; it is by a process of its own."""
    observers = [each for each in operations if observes(each)]
    groups: dict[int, list[Operation]] = {}
    for each in operations:
        if each.f == "add" and each.return_ is not None and not observes(each):
            before = sum(other.return_ is not None and other.return_ < each.invoke for other in observers)
            after = sum(other.invoke > each.return_ for other in observers)
            if before + after == len(observers):
                groups.setdefault(before, []).append(each)
    names = {each.process for each in operations}
    left = list(operations)
    for adds in groups.values():
        if len(adds) > 1:
            whole = _together(adds)
            name = next(name for n in count(1) if (name := f"{len(adds)} adds" + f" {n}" * (n > 1)) not in names)
            names.add(name)
            left = [each for each in left if not any(each is add for add in adds)]
            left += [replace(whole, process=name)] if whole.arguments != (0,) else []
    return sorted(left, key=lambda each: each.invoke)


def _together(adds: Sequence[Operation]) -> Operation:
    """Return one add that stands for all."""
    amount = sum(int(each.arguments[0]) for each in adds)  # type: ignore[call-overload]
    invoke, return_ = min(each.invoke for each in adds), max(each.return_ or 0 for each in adds)
    return replace(adds[0], arguments=(amount,), result=UNKNOWN, invoke=invoke, return_=return_)
