"""Turn a failure into the steps that a page draws, each with its source line."""

from __future__ import annotations

from latchfree_explore.failure import Failure
from latchfree_explore.render import back, interesting, returns
from latchfree_explore.sources import function_of, text_of
from latchfree_explore.steps import Step as Access
from latchfree_lincheck.show.steps import Step


def steps_of(failure: Failure) -> list[Step]:
    """Return the atomic accesses of a failing schedule, in order."""
    steps = [_step(access) for access in failure.steps]
    begun: set[int] = set()
    for step, access in zip(steps, failure.steps, strict=True):
        if access.call not in begun:
            step["begins"] = str(failure.scenario.operations[access.call])
            begun.add(access.call)
    for number, result in returns(failure).items():
        steps[number]["returns"] = repr(result)
    for number in set(range(len(steps))) - interesting(failure):
        steps[number]["aside"] = True
    return steps


def _step(access: Access) -> Step:
    kind = access.kind if access.succeeded else f"{access.kind} fails"
    step = Step(thread=access.thread, kind=f"{kind} ({back(access)})" if access.choice else kind)
    if access.at is not None:
        step["address"] = access.at
        step["value"] = _word(access.old)
        if access.old != access.new:
            step["value"] = f"{_word(access.old)} -> {_word(access.new)}"
    if access.site:
        file, _, line = access.site.rpartition(":")
        step["function"], step["file"], step["line"] = function_of(access.site), file, int(line)
        step["text"] = text_of(access.site)
    return step


def _word(value: int) -> str:
    """Return a word: small numbers as they are, others, which pack several fields, in hexadecimal."""
    return str(value) if abs(value) < 1 << 32 else hex(value & (1 << 64) - 1)
