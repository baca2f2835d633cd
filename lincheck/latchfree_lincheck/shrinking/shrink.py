"""Shrink a violating history: apply sound reductions as long as what is left is a violation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

from latchfree_lincheck.checking.checker import check
from latchfree_lincheck.checking.verdict import Verdict
from latchfree_lincheck.engine.bounds import MEMORY, Deadline
from latchfree_lincheck.history import History, Operation
from latchfree_lincheck.shrinking import increments, reductions
from latchfree_lincheck.shrinking.minimise import minimise
from latchfree_lincheck.shrinking.tokens import Knowledge, knowledge_of, leave_out
from latchfree_model import UNKNOWN, CounterModel, Model, get_model

ROUNDS: Final = 4
"""How often all reductions are tried, at most: each may make way for another."""

SMALL: Final = 10
"""A history of so many operations is not cut any more: how it began explains how it went wrong."""

MOST_OPTIONAL: Final = 64
"""Operations are made optional one by one only in histories that have no more of them."""

SECONDS: Final = 1.0
"""What one judgement may take, beside what the whole history took; a smaller one that takes longer is not used."""


def shrink(
    history: History, model: str | Model[Any] = "map", *, timeout: float | None = None, memory: int = MEMORY
) -> History:
    """Return a small history that is not linearizable, because the given one is not.

    Its operations are operations of the given history, some with their result forgotten or pending, so that they may
    have taken effect or not. Of a counter, an add may stand for several.

    Parameters
    ----------
    history : History
        A violation.
    model : str or Model
        A built-in model's name, or any sequential model.
    timeout : float, optional
        Seconds after which the smallest history found so far is returned.
    memory : int
        Bound on the memory of each judgement, in bytes.

    Raises
    ------
    ValueError
        If the history is not found to be a violation in that time, or has a call that the model does not have.
    """
    if isinstance(model, str):
        model = get_model(model)
    deadline = Deadline(timeout)
    verdict = check(history, model, timeout=timeout, memory=memory)
    if verdict.verdict != "violation":
        raise ValueError(f"{history.name}: only a violation can be shrunk; this is {verdict.verdict}: {verdict.reason}")
    shrinker = _Shrinker(model, deadline, memory, SECONDS + verdict.seconds)
    operations = shrinker.narrow(history.operations, verdict)
    for _ in range(ROUNDS):
        before = len(operations)
        operations = shrinker.round(operations)
        if len(operations) == before:
            break
    if len(operations) > SMALL:
        operations = shrinker.round(shrinker.make_optional(operations))
    operations = shrinker.without_idle(operations)
    return History(f"{history.name}-small", sorted(operations, key=lambda each: each.invoke), model.name)


class _Shrinker:
    def __init__(self, model: Model[Any], deadline: Deadline, memory: int, seconds: float) -> None:
        self._seconds = seconds
        self._model = model
        self._deadline = deadline
        self._memory = memory

    def judge(self, operations: Sequence[Operation]) -> Verdict | None:
        """Return the verdict if it is a violation, else None."""
        until = self._deadline.left()
        left = self._seconds if until is None else min(self._seconds, until)
        if left <= 0:
            return None
        verdict = check(History("", operations), self._model, timeout=left, memory=self._memory)
        return verdict if verdict.verdict == "violation" else None

    def fails(self, operations: Sequence[Operation]) -> bool:
        """Return whether the operations are a violation, as far as time allows to know."""
        return self.judge(operations) is not None

    def narrow(self, operations: Sequence[Operation], verdict: Verdict) -> list[Operation]:
        """Return the part of the object that the violation is on, up to the earliest return that shows it.

        The verdict names a return that no order passes if the operations running then return what they later did. With
        their results forgotten a later return may be needed.
        """
        assert verdict.failing is not None
        failing = operations[verdict.failing]
        assert failing.return_ is not None
        mine = reductions.part(operations, self._model, failing)
        for until in _ever_later(sorted(each.return_ for each in mine if each.return_ is not None), failing.return_):
            shorter = reductions.prefix(mine, until)
            if self.fails(shorter):
                return shorter
        return mine

    def round(self, operations: list[Operation]) -> list[Operation]:
        """Return the operations after every reduction was tried once."""
        operations = self._better(operations, self._unseen_optional(operations))
        operations = self._without_tokens(operations)
        operations = self._without_effectless(operations)
        if isinstance(self._model, CounterModel):
            operations = self._with_merged_adds(operations)
        if len(operations) > SMALL:
            operations = self._after_cut(operations)
        verdict = self.judge(operations)
        return operations if verdict is None else self.narrow(operations, verdict)

    def _better(self, operations: list[Operation], smaller: list[Operation]) -> list[Operation]:
        return smaller if smaller != operations and self.fails(smaller) else operations

    def _unseen_optional(self, operations: list[Operation]) -> list[Operation]:
        """Return the operations with those whose result nobody saw pending: they tie down little."""
        unseen = [at for at, each in enumerate(operations) if each.result is UNKNOWN and each.return_ is not None]
        return reductions.optional(operations, unseen)

    def _after_cut(self, operations: list[Operation]) -> list[Operation]:
        """Return the operations from an overwriting one on; what came before would say more, but is long."""
        for first in self._cuts(operations):
            shorter = reductions.after_cut(operations, first)
            if self.fails(shorter):
                return shorter
        return operations

    def _cuts(self, operations: list[Operation]) -> list[Operation]:
        """Return places to begin: the latest, and others ever further back."""
        found = list(reductions.cuts(operations, self._model))
        return [found[(1 << turn) - 1] for turn in range((len(found) + 1).bit_length() - 1)]

    def _without_effectless(self, operations: list[Operation]) -> list[Operation]:
        idle = [at for at, each in enumerate(operations) if reductions.effectless(each, self._model)]

        def left(kept: Sequence[int]) -> list[Operation]:
            out = set(idle).difference(kept)
            return [each for at, each in enumerate(operations) if at not in out]

        return left(minimise(idle, lambda kept: self.fails(left(kept))))

    def _without_tokens(self, operations: list[Operation]) -> list[Operation]:
        for knowledge in knowledge_of(self._model, operations):
            operations = self._without_tokens_of(knowledge, operations)
        return operations

    def _without_tokens_of(self, knowledge: Knowledge, operations: list[Operation]) -> list[Operation]:
        tokens = list(dict.fromkeys(token for each in operations if (token := knowledge.token(each)) is not None))

        def left(kept: Sequence[Hashable]) -> list[Operation] | None:
            return leave_out(knowledge, operations, set(tokens).difference(kept))

        def fails(kept: Sequence[Hashable]) -> bool:
            fewer = left(kept)
            return fewer is not None and self.fails(fewer)

        return left(minimise(tokens, fails)) or operations

    def _with_merged_adds(self, operations: list[Operation]) -> list[Operation]:
        """Return the operations with few results of adds, and adds that nobody could tell apart as one."""
        observers = [at for at, each in enumerate(operations) if each.f == "add" and increments.observes(each)]

        def left(kept: Sequence[int]) -> list[Operation]:
            return increments.merged(increments.forgotten(operations, set(observers).difference(kept)))

        return self._better(operations, left(minimise(observers, lambda kept: self.fails(left(kept)))))

    def make_optional(self, operations: list[Operation]) -> list[Operation]:
        """Return the operations with as many pending as can be."""
        completed = [at for at, each in enumerate(operations) if each.return_ is not None]
        if len(completed) > MOST_OPTIONAL:
            return operations

        def left(kept: Sequence[int]) -> list[Operation]:
            return reductions.optional(operations, set(completed).difference(kept))

        return left(minimise(completed, lambda kept: self.fails(left(kept))))

    def without_idle(self, operations: list[Operation]) -> list[Operation]:
        """Return the operations without the pending ones that do not matter even to the explanation.

        With them the history is a violation, so whether they took effect or not explains nothing. But people want to
        see, say, who may have written what was read: what changes the failing operation or the message stays.
        """
        verdict = self.judge(operations)
        if verdict is None or verdict.failing is None:
            return operations
        failing, message = operations[verdict.failing], verdict.message
        pending = [at for at, each in enumerate(operations) if each.return_ is None]

        def left(kept: Sequence[int]) -> list[Operation]:
            out = set(pending).difference(kept)
            return [each for at, each in enumerate(operations) if at not in out]

        def same(kept: Sequence[int]) -> bool:
            fewer = left(kept)
            found = self.judge(fewer)
            return found is not None and found.message == message and fewer[found.failing or 0] == failing

        return left(minimise(pending, same))


def _ever_later(times: Sequence[int], first: int) -> list[int]:
    """Return `first` and later ones of the sorted times, ever further apart."""
    later = [time for time in times if time > first]
    return [first, *(later[(1 << turn) - 1] for turn in range((len(later) + 1).bit_length() - 1))]
