"""The error of a test whose recorded history is a violation, or could not be judged."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from latchfree_lincheck.show.lanes import lanes

if TYPE_CHECKING:
    from latchfree_lincheck.checking.verdict import Verdict
    from latchfree_lincheck.history import History
    from latchfree_model import Model

SHRINKING: Final = 5.0
"""Seconds for making the history of a failure small."""


class NotLinearizable(AssertionError):
    """A recorded history is a violation, or could not be judged.

    Attributes
    ----------
    history : History
        What happened.
    verdict : Verdict
        The judgement on it.
    model : Model
        What it was judged by.
    program : tuple of tuple of Step
        What each process called, if the program was generated.
    cut_after : float, optional
        Seconds after which the search for a smaller program was cut.
    """

    def __init__(
        self, history: History, verdict: Verdict, model: Model[Any], *, criterion: str = "linearizability",
        program: tuple[Any, ...] = (), head: str = "",
    ) -> None:  # fmt: skip
        super().__init__(verdict.reason)
        self.history, self.verdict, self.model, self.program = history, verdict, model, program
        self.cut_after: float | None = None
        self._criterion = criterion
        self._head = head

    @cached_property
    def small(self) -> History | None:
        """A smaller history that is a violation because this one is, if there is one; `shrink` says how."""
        from latchfree_lincheck.shrinking import shrink

        if self.verdict.verdict != "violation" or self._criterion != "linearizability":
            return None
        try:
            small = shrink(self.history, self.model, timeout=SHRINKING)
        except ValueError:  # not found to be a violation in that time
            return None
        return small if len(small) < len(self.history) else None

    def __str__(self) -> str:
        verdict = self.verdict
        marked = () if verdict.failing is None else (verdict.failing,)
        parts = [f"{verdict.verdict}: {verdict.reason}\n{self._head}\n\n{lanes(self.history, marked)}"]
        if verdict.message:
            parts.append(verdict.message)
        if self.small is not None:
            parts.append(f"so this part of it is wrong by itself:\n\n{lanes(self.small)}")
        if self.cut_after is not None:
            parts.append(cut_text(self.cut_after))
        return "\n\n".join(parts)


def cut_text(seconds: float) -> str:
    """Return the sentence that says that the search for a smaller program was cut."""
    return f"the search for a smaller program was cut after {seconds:g} s; shrink_seconds= gives it more"
