"""Verdicts: ok with a witness, violation with its place, or unknown with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args, overload

from latchfree_lincheck.history import Operation

EngineName = Literal["auto", "monitor", "frontier", "wgl", "python", "smt"]
ENGINE_NAMES: Final[tuple[str, ...]] = get_args(EngineName)
"""The names that `latchfree_lincheck.check` takes as `engine`."""


class Order(Sequence[int]):
    """An order that is made when somebody first reads it.

    Parameters
    ----------
    make : callable
        Returns the order. May raise `latchfree_lincheck.NoWitness`: a monitor can tell that there is an order without
        finding one, and the search for the order has the bounds of the check.
    """

    __slots__ = ("_indices", "_make")

    def __init__(self, make: Callable[[], list[int]]) -> None:
        self._make = make
        self._indices: list[int] | None = None

    def _all(self) -> list[int]:
        if self._indices is None:
            self._indices = self._make()
        return self._indices

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        return self._all()[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return self._all() == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Order(...)" if self._indices is None else repr(self._indices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The judgement on one history.

    Parameters
    ----------
    verdict : "ok", "violation" or "unknown"
        Unknown is neither: the search hit the deadline, the budget or the memory bound.
    reason : str
        One line that says why.
    operations : int
        How many operations the history holds.
    seconds : float
        How long the check took.
    engine : str
        The engine that decided most parts of the history. See `latchfree_lincheck.check`.
    why : str
        Why this engine decided: what other engines needed, or how many parts each engine decided.
    steps : int
        How many steps the searches took: the same in every run that the clock does not end.
    witness : sequence of int
        If ok: the indices of the operations in an order that explains every result; pending operations that
        took no effect are not in it.
    failing : int, optional
        If violation: the index of the first operation, by time of return, whose return no order explains.
    partial : sequence of int
        If violation: the longest order that explains what returned before it (of the object's part it touches).
    message : str
        If violation: what the sequential model says about the failing operation after `partial`.
    excerpt : tuple of Operation
        If violation: the failing operation and those that were running with it.
    segment : sequence of int
        If a map log has a violation: rows that have one by themselves, when the map holds `contents` before.
    contents : tuple of int
        The value of each key, or -1, before `segment`.
    """

    verdict: Literal["ok", "violation", "unknown"]
    reason: str
    operations: int
    seconds: float
    engine: str
    why: str = ""
    steps: int = 0
    witness: Sequence[int] = ()
    failing: int | None = None
    partial: Sequence[int] = ()
    message: str = ""
    excerpt: tuple[Operation, ...] = field(default=(), repr=False)
    segment: Sequence[int] = field(default=(), repr=False)
    contents: tuple[int, ...] = field(default=(), repr=False)

    def explain(self) -> str:
        """Return the verdict as text for people: one line, and for a violation where and why."""
        head = f"{self.verdict}: {self.reason} ({self.operations:,} operations, {self.seconds:.3f} s, {self.engine})"
        if self.verdict != "violation":
            return head
        lines = [head]
        if self.message:
            lines.append(f"  {self.message}")
        if self.excerpt:
            lines.append(f"  no order explains: {self.excerpt[0]}")
            if len(self.excerpt) > 1:
                lines.append("  while these ran:")
                lines.extend(f"    {operation}" for operation in self.excerpt[1:])
        lines.append(f"  the longest explanation of what came before orders {len(self.partial):,} operations")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the verdict, and for a violation where and why."""
        from latchfree_support.notebook import panel, pre

        head, _, rest = self.explain().partition("\n")
        return panel(head, [pre(rest)] if rest else [])
