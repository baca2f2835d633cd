"""Problems for the compiled engines: the parts of a history, their rows and their states at the beginning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from latchfree_lincheck.engine.compiled_models.opcodes import APPEND, OFFER, PUSH
from latchfree_lincheck.engine.compiled_models.transition import PartArrays, Rows
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.history.timeline import Ints, Timeline

if TYPE_CHECKING:
    from latchfree_lincheck.engine.own_step import Own  # loads the compiler

NOTHING = np.zeros(0, np.int64)
NO_CONTENTS = np.zeros((0, 1), np.int64)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of the rows of a history, beyond the columns themselves.

    Parameters
    ----------
    family : str
        The built-in model, without its parameters.
    kind : "value", "list", "text" or "words"
        What one key holds. Words are of a model of the user's own.
    initial : mapping of int to int64[keys]
        For each part with several keys, their values at the beginning.
    first : int64[parts]
        The state at the beginning of every other part.
    contents : mapping of int to int64[s, keys]
        For each part with several keys, what its snapshots saw; a snapshot's result is a row of it.
    pieces : int64[bytes]
        The strings appended; an append's a and b are a slice of it.
    texts : mapping of int to sequence of bytes
        If the kind is text, for each part what the values and results >= 0 stand for.
    own : Own, optional
        If the kind is words, the compiled step and the calls.
    """

    family: str
    kind: Literal["value", "list", "text", "words"]
    first: Ints
    initial: Mapping[int, Ints] = field(default_factory=dict)
    contents: Mapping[int, Ints] = field(default_factory=dict)
    pieces: Ints = field(default_factory=lambda: NOTHING)
    texts: Mapping[int, tuple[bytes, ...]] = field(default_factory=dict)
    own: Own | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """One part, by itself.

    Parameters
    ----------
    parts : Parts
        With a single part; `index` is the caller's.
    initial : int64[keys]
        The values at the beginning.
    contents : int64[s, keys]
        What snapshots saw.
    until : int, optional
        How many events a search has to explain, if not all: another part is violated by then.
    """

    parts: Parts
    kind: Literal["value", "list", "text", "words"]
    initial: Ints
    contents: Ints
    pieces: Ints
    texts: tuple[bytes, ...]
    own: Own | None = None
    until: int | None = None

    @classmethod
    def of(cls, parts: Parts, meaning: Meaning, part: int) -> Problem:
        """Take one part out of many."""
        low, high = parts.bounds[part], parts.bounds[part + 1]
        begin, end = parts.event_bounds[part], parts.event_bounds[part + 1]
        alone = Parts(
            parts.index[low:high],
            np.array([0, high - low]),
            parts.invoke[low:high],
            parts.return_[low:high],
            parts.events[begin:end] - 2 * low,
            np.array([0, end - begin]),
            parts.rows[low:high],
        )
        initial = meaning.initial.get(part, meaning.first[part : part + 1])
        contents = meaning.contents.get(part, NO_CONTENTS)
        return cls(alone, meaning.kind, initial, contents, meaning.pieces, meaning.texts.get(part, ()), meaning.own)

    def arrays(self, rows: Rows) -> PartArrays:
        """Return the arrays that compiled searches read, with these rows."""
        return PartArrays(self.parts.events, self.parts.return_, rows, self.contents, self.pieces)

    @property
    def depth(self) -> int:
        """The depth of the tree that holds the keys."""
        if self.kind == "words":
            return 0
        return (len(self.initial) - 1).bit_length()

    def timeline(self) -> Timeline:
        """Return when its operations ran."""
        return self.parts.timeline(0)

    def growth(self) -> int:
        """Return a bound on the nodes that one operation can add to the store, and on the scratch it needs."""
        rows = self.parts.rows
        if self.kind == "text":
            return int(np.where(rows[:, 0] == APPEND, rows[:, 3], 0).max(initial=0))
        if self.kind == "words":
            return len(self.initial)
        if self.kind == "list":
            return 2 + int(((rows[:, 0] >= PUSH) & (rows[:, 0] <= OFFER)).sum())
        return self.depth
