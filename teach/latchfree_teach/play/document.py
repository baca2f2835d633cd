"""What a page is given: tables of texts, boxes and configurations, and the states as lists of numbers into them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from latchfree_evidence.refinement.labels import NONE, labels_at
from latchfree_explore.board import layout as b
from latchfree_explore.sources import function_of, text_of
from latchfree_teach.play.growing import StateGraph
from latchfree_teach.play.layout import HEIGHT, WIDTH, positions
from latchfree_teach.play.merging import merged
from latchfree_teach.play.painters.choosing import painter_of
from latchfree_teach.play.painters.picture import Painter, Picture
from latchfree_teach.play.painters.words import small
from latchfree_teach.play.par import shortest
from latchfree_teach.play.tracker import Configuration, shown
from latchfree_teach.play.tracker import text_of as value_text
from latchfree_teach.play.walking import Move, State, Thread, Walker


class Table:
    """Values with numbers, in the order in which they came."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}

    def __call__(self, value: Hashable) -> int:
        """Return the number of a value, a new one if it has none."""
        return self.numbers.setdefault(value, len(self.numbers))


def document(graph: StateGraph, *, title: str, story: str = "", painter: Painter | None = None) -> dict[str, Any]:
    """Return a play page's data as JSON values.

    Parameters
    ----------
    graph : StateGraph
        The states of the program, and the steps between them.
    title, story : str
        What the page is called, and what goes wrong in it.
    painter : Painter, optional
        By default the one of the target.
    """
    walker = graph.walker
    states, number = merged(graph.states)
    machine = walker.machine
    changed = {at for state in states for at, _ in state.memory}
    painter = painter or painter_of(machine.target, machine.memory, graph.contended, changed)
    pictures = [_picture(walker, painter, state) for state in states]
    at = positions(pictures)
    made = _Document(number)
    best = shortest(graph.states[0])
    rows = [made.state(state, picture, at) for state, picture in zip(states, pictures, strict=True)]
    return {
        "title": title,
        "story": story,
        "scenario": str(machine.scenario),
        "bound": graph.bound if graph.complete else f"{graph.bound or 'all states'}, cut short",
        "par": None if best is None else best[0],
        "calls": [str(each) for each in machine.calls],
        "before": walker.first,
        "after": walker.after,
        "threads": _numbers(walker),
        "boxes": [list(each) for each in made.boxes.numbers],  # type: ignore[call-overload]
        "arrows": [list(each) for each in made.arrows.numbers],  # type: ignore[call-overload]
        "texts": list(made.texts.numbers),
        "sources": {str(made.texts.numbers[site]): made.source(site) for site in sorted(made.sites) if site},
        "size": [WIDTH, HEIGHT],
        "configurations": [value_text(each.state) for each in made.configurations.numbers],  # type: ignore[attr-defined]
        "start": [made.configurations(each) for each in sorted(graph.states[0].held, key=shown)],
        "states": rows,
    }


def _numbers(walker: Walker) -> list[list[int]]:
    found, first = [], walker.first
    for thread in walker.machine.scenario.threads:
        found.append(list(range(first, first + len(thread))))
        first += len(thread)
    return found


def _picture(walker: Walker, painter: Painter, state: State) -> Picture:
    """Paint the memory of a state; threads between two operations hold nothing."""
    mask = (1 << 64) - 1
    pending = {
        k: thread._replace(a=thread.a & mask, operand=thread.operand & mask)
        for k, thread in enumerate(state.threads)
        if thread.call >= 0 and not thread.invoking
    }
    picture: Picture = walker.look(state, lambda: painter.paint(walker.machine.memory.words, pending))
    return picture


class _Document:
    def __init__(self, number: dict[Hashable, int]) -> None:
        self.number = number
        self.boxes, self.arrows, self.texts, self.configurations = Table(), Table(), Table(), Table()
        self.sites: set[str] = set()

    def source(self, site: str) -> list[str]:
        """Return function, place and text of an access, and the action of a specification that it is, if it is one."""
        file, _, line = site.rpartition(":")
        actions = ", ".join(label for label in labels_at(site) if label != NONE)
        return [function_of(site), f"{file.rpartition('/')[2]}:{line}", text_of(site), *([actions] if actions else [])]

    def state(self, state: State, picture: Picture, at: dict[str, tuple[int, int]]) -> list[Any]:
        boxes = [self.boxes((x.id, *at[x.id], x.title, x.text, x.style)) for x in picture.boxes]
        arrows = [self.arrows(tuple(x)) for x in dict.fromkeys(picture.arrows)]
        threads = [self.thread(each, picture) for each in state.threads]
        moves = [self.move(*state.moves[k]) for k in sorted(state.moves)]
        results = {str(k): value_text(result) for k, result in sorted(state.results.items())}
        if not state.held:
            status = "not linearizable"
        else:
            status = {"running": "", "done": "done"}.get(state.status, state.status)
        closed = [k for k in state.enabled if k not in state.moves and not state.is_end]
        return [boxes, arrows, threads, moves, results, status, closed]

    def thread(self, thread: Thread, picture: Picture) -> list[Any] | int:
        """Return operation, whether it has begun, and the box and words of the next access."""
        if thread.call < 0:
            return 0
        if thread.invoking or thread.at not in picture.homes:
            return [thread.call, int(not thread.invoking)]
        text = b.KINDS[thread.kind]
        a, operand = (word & (1 << 64) - 1 for word in (thread.a, thread.operand))
        if thread.kind == b.CAS and max(a, operand) < 1000:
            text = f"cas {a} → {operand}"
        elif thread.kind == b.STORE and operand < 1000:
            text = f"store {operand}"
        return [thread.call, 1, picture.homes[thread.at], self.texts(text)]

    def move(self, move: Move, after: State) -> list[Any]:
        self.sites.add(move.site)
        mask = (1 << 64) - 1
        old, new = small(move.old & mask), small(move.new & mask)
        value = "" if move.kind == "pause" else f"{old} → {new}" if move.old != move.new else old
        returned = [[k, [self.returned(*item) for item in steps.items()]] for k, steps in move.returned]
        return [
            move.thread, self.number[after.key], move.steps, self.texts(f"{move.kind}"), self.texts(value),
            self.texts(move.site), returned, int(move.invokes),
        ]  # fmt: skip

    def returned(self, after: Configuration, how: tuple[Configuration, tuple[int, ...]]) -> list[Any]:
        return [self.configurations(how[0]), list(how[1]), self.configurations(after)]
