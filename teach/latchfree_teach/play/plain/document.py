"""What a play page of plain Python is given: tables, and the states as lists of numbers into them.

Rows are those of `latchfree_teach.play.document`; of a thread that waits they say what for.
"""

from __future__ import annotations

import linecache
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

from latchfree_teach.play.document import Table
from latchfree_teach.play.layout import HEIGHT, WIDTH, positions
from latchfree_teach.play.painters.picture import Picture
from latchfree_teach.play.plain.walking import Move, State, Walker
from latchfree_teach.play.tracker import Configuration, shown, text_of


def data_of(
    walker: Walker, states: Sequence[State], *, title: str, story: str, scenario: str, bound: str
) -> dict[str, Any]:
    """Return the page's data as JSON values."""
    pictures = [Picture(boxes=state.boxes) for state in states]
    at = positions(pictures)
    made = _Document(walker, states)
    rows = [made.state(state, at) for state in states]
    judged = walker.tracker is not None
    names = _numbered(walker.names)
    others = names[len(walker.threads) :]
    threads = [*walker.threads, *([len(walker.calls) + k] for k in range(len(others)))]
    data: dict[str, Any] = {
        "title": title,
        "story": story,
        "scenario": scenario,
        "bound": bound,
        "names": names,
        "calls": [*map(str, walker.calls), *others],
        "before": walker.before,
        "after": walker.after,
        "threads": threads,
        "boxes": [list(each) for each in made.boxes.numbers],  # type: ignore[call-overload]
        "arrows": [],
        "texts": list(made.texts.numbers),
        "sources": {str(made.texts.numbers[site]): made.sources[site] for site in sorted(made.sources)},
        "size": [WIDTH, HEIGHT],
        "configurations": [text_of(each.state) for each in made.configurations.numbers] if judged else [""],  # type: ignore[attr-defined]
        "start": [made.configurations(each) for each in sorted(states[0].held, key=shown)] if judged else [0],
        "states": rows,
    }
    return data if judged else data | {"model": "the check"}


def _numbered(names: Sequence[str]) -> list[str]:
    """Return names of which no two are equal: the outside of an event loop is several threads."""
    return [name if names.count(name) == 1 else f"{name} {names[: k + 1].count(name)}" for k, name in enumerate(names)]


class _Document:
    def __init__(self, walker: Walker, states: Sequence[State]) -> None:
        self._walker = walker
        self._number: dict[Hashable, int] = {state.key: k for k, state in enumerate(states)}
        self.boxes, self.texts, self.configurations = Table(), Table(), Table()
        self.sources: dict[str, list[str]] = {}

    def state(self, state: State, at: dict[str, tuple[int, int]]) -> list[Any]:
        boxes = [self.boxes((box.id, *at[box.id], box.title, box.text, box.style)) for box in state.boxes]
        moves = [
            self.move(thread, move, self._number[after.key])
            for thread, (move, after) in sorted(state.moves.items())
            if after.key in self._number
        ]
        here = {move[0] for move in moves}
        threads = [self.thread(state, k) for k in range(len(self._walker.names))]
        results = {str(k): text_of(result) for k, result in sorted(state.results.items())}
        return [boxes, [], threads, moves, results, state.status, [k for k in state.enabled if k not in here]]

    def thread(self, state: State, thread: int) -> list[Any] | int:
        """Return call, whether it has begun, no box and no words, and what the thread waits for."""
        if thread not in state.doing:
            return 0
        call, begun = state.doing[thread]
        return [call, int(begun), None, None, state.waits.get(thread, "")]

    def move(self, thread: int, move: Move, after: int) -> list[Any]:
        file, line = move.site
        site = f"{file}:{line}" if file else ""
        if file:
            self.sources.setdefault(
                site, ["", f"{Path(file).name}:{line}" if line else file, linecache.getline(file, line).strip()]
            )
        returned = [
            [call, [self.returned(*item) for item in sorted(steps.items(), key=lambda item: shown(item[0]))]]
            for call, steps in move.returned
        ]
        return [thread, after, 1, self.texts(move.words), self.texts(""), self.texts(site), returned, int(move.begins)]

    def returned(self, after: Configuration, how: tuple[Configuration, tuple[int, ...]]) -> list[Any]:
        return [self.configurations(how[0]), list(how[1]), self.configurations(after)]
