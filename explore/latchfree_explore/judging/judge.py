"""Ask the compiled axioms about graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from latchfree_explore.judging import axioms
from latchfree_explore.weak.axioms import MODELS, Model
from latchfree_explore.weak.graph import KINDS, ORDERS, Graph, Row
from latchfree_explore.weak.relations import Relation

_BIT: Final = {model: 1 << k for k, model in enumerate(MODELS)}
_KIND: Final = {kind: number for number, kind in enumerate(KINDS)}
_ORDER: Final = {order: number for number, order in enumerate(ORDERS)}
_FIRST: Final = -(1 << 62)


class Judge:
    """The compiled axioms, with memory to work in."""

    def __init__(self) -> None:
        self._room(64)

    def _room(self, events: int) -> None:
        words = (events + 63) // 64
        self._size = 64 * words
        # One word more than is used: then no part is contiguous, and the axioms are compiled once.
        self._relations = np.zeros((axioms.RELATIONS, self._size, words + 1), np.uint64)
        self._masks = np.zeros((axioms.MASKS, words + 1), np.uint64)

    def _scratch(self, events: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        if events > self._size:
            self._room(events)
        words = (events + 63) // 64
        return self._relations[:, :events, :words], self._masks[:, :words]

    def allowing(self, rows: Sequence[Row], models: Sequence[Model] = MODELS) -> tuple[Model, ...]:
        """Return those of the models that allow a graph, given as rows."""
        return self._answer(_events(rows), models)

    def allowed_by(self, graph: Graph, models: Sequence[Model] = MODELS) -> tuple[Model, ...]:
        """Return those of the models that allow a graph, as `latchfree_explore.weak.allowed_by` does."""
        return self._answer(_events_of(graph), models)

    def _answer(self, events: NDArray[np.int64], models: Sequence[Model]) -> tuple[Model, ...]:
        asked = sum(_BIT[model] for model in models)
        found = int(axioms.allowing(events, *self._scratch(len(events)), asked))
        return tuple(model for model in models if found & _BIT[model])

    def opposed(self, rows: Sequence[Row], model: Model) -> Relation:
        """Return the pairs of events of which a model does not let the first happen after the second.

        Initial writes are left out: event `k` is row `k`.
        """
        events = _events(rows)
        relations, masks = self._scratch(len(events))
        axioms.opposed(events, relations, masks, _BIT[model])
        first = len(events) - len(rows)
        found = np.ascontiguousarray(relations[axioms.ANSWER])
        return tuple(int.from_bytes(row.tobytes(), "little") >> first for row in found[first:])


def _events(rows: Sequence[Row]) -> NDArray[np.int64]:
    """Return the events of rows, initial writes first."""
    words: dict[object, int] = {}
    for row in rows:
        if row.word is not None:
            words.setdefault(row.word, len(words))
    first = len(words)
    events = [(-1, axioms.WRITE, word, axioms.RELAXED, -1, _FIRST) for word in range(first)]
    for row in rows:
        word = -1 if row.word is None else words[row.word]
        source = -1 if row.reads is None else word if row.reads < 0 else row.reads + first
        place = -1 if row.place is None else row.place
        events.append((row.thread, _KIND[row.kind], word, _ORDER[row.order], source, place))
    return np.array(events, np.int64).reshape(len(events), axioms.COLUMNS)


def _events_of(graph: Graph) -> NDArray[np.int64]:
    """Return the events of a graph."""
    words = {word: number for number, word in enumerate(graph.writes)}
    place = {event: at for order in graph.writes.values() for at, event in enumerate(order)}
    events = [
        (
            event.thread,
            _KIND[event.kind],
            -1 if event.word is None else words[event.word],
            _ORDER[event.order],
            -1 if source is None else source,
            place.get(number, -1),
        )
        for number, (event, source) in enumerate(zip(graph.events, graph.source, strict=True))
    ]
    return np.array(events, np.int64).reshape(len(events), axioms.COLUMNS)
