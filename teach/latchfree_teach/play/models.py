"""A play page of a bounded model of TLA+: the reader chooses which process takes the next action of the specification.

Example: `model_page("counter_lost")`. Both processes load 0, both store 1, and the invariant `Counted` is violated.

TLC explores the model to the end, whatever is violated in it, and once more with the property as a constraint: the
states that are missing then are those in which it is violated. So where the page says that nothing is, TLC says so.
"""

from __future__ import annotations

import tempfile
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from latchfree_model.graph import StateGraph, Step, explore
from latchfree_model.graph.explore import without_checks
from latchfree_model.graph.rows import name_of
from latchfree_model.tlc import SpecModel, load_manifest, spec_dir
from latchfree_model.tlc.config import temporal_properties
from latchfree_model.tlc.values import Function, Value, show
from latchfree_teach.play.document import Table
from latchfree_teach.play.layout import HEIGHT, WIDTH, positions
from latchfree_teach.play.page import page
from latchfree_teach.play.painters.picture import Box, Picture
from latchfree_teach.play.par import fewest_changes

MOST_STATES: Final = 4_000
MOST_COLUMNS: Final = 9
_MOST_PARTS: Final = 12
_SYSTEM: Final = "system"


@dataclass(frozen=True)
class ModelPlay:
    """A play page of a model.

    Attributes
    ----------
    text : str
        The HTML page.
    states : int
        States on the page.
    par : int or None
        The fewest changes of processes to a violation; None if there is none.
    """

    text: str
    states: int
    par: int | None


def find_model(name: str) -> SpecModel:
    """Return the model of a name in the manifest of the package; raise ValueError if there is none."""
    for model in load_manifest(spec_dir() / "manifest.toml"):
        if model.name == name:
            return model
    raise ValueError(f"there is no model {name!r}; `latchfree spec --list` lists them")


def model_page(model: str | SpecModel, *, title: str = "") -> ModelPlay:
    """Return the play page of a bounded model.

    Parameters
    ----------
    model : str or SpecModel
        Its name in the manifest, or the model itself.
    title : str
        By default its name.

    Raises
    ------
    ValueError
        If there is no such model, it has too many states for a page, or it checks no invariant.
    latchfree_model.graph.Unexplored
        If TLC cannot explore it.
    """
    chosen = find_model(model) if isinstance(model, str) else model
    if chosen.distinct is not None and chosen.distinct > MOST_STATES:
        raise ValueError(f"{chosen.name}: {chosen.distinct:,} states; a page has at most {MOST_STATES:,}")
    if chosen.property in temporal_properties(chosen.root / chosen.config):
        raise ValueError(f"{chosen.name}: {chosen.property} is a temporal property; a page shows violated invariants")
    graph = explore(chosen).graph
    if len(graph) > MOST_STATES:
        raise ValueError(f"{chosen.name}: {len(graph):,} states; a page has at most {MOST_STATES:,}")
    data = _Document(chosen, graph, violated_states(chosen, graph)).data(title or chosen.name)
    return ModelPlay(page(data), len(data["states"]), data["par"])


def violated_states(model: SpecModel, graph: StateGraph) -> frozenset[int]:
    """Return the states of a model's graph in which its property, an invariant or "Deadlock", is violated."""
    if model.property == "Deadlock":
        return frozenset(graph.deadlocks)
    with tempfile.TemporaryDirectory(prefix="latchfree-play-") as folder:
        text = without_checks((model.root / model.config).read_text(encoding="utf-8"))
        config = Path(folder, "holding.cfg")
        config.write_text(f"{text}\nCONSTRAINT {model.property}\n", encoding="utf-8")
        holding = explore(replace(model, config=str(config), distinct=None)).graph
    good = {holding.rows[k] for k in range(len(holding))}
    return frozenset(k for k in range(len(graph)) if graph.rows[k] not in good)


class _Document:
    """Collects the tables of a page."""

    def __init__(self, model: SpecModel, graph: StateGraph, violated: frozenset[int]) -> None:
        self.model, self.graph, self.violated = model, graph, violated
        self.reached = self._reached()
        self.number = {state: k for k, state in enumerate(self.reached)}
        self.columns = self._columns()
        self.boxes, self.texts = Table(), Table()

    def bad(self, state: int) -> str:
        """Return what is violated in a state, "" if nothing is."""
        if state not in self.violated:
            return ""
        return "deadlock" if self.model.property == "Deadlock" else f"{self.model.property} is violated"

    def steps(self, state: int) -> list[tuple[str, Step]]:
        """Return the steps from a state with their processes; none from one in which something is violated."""
        if self.bad(state):
            return []
        found = []
        for step in self.graph.steps_from(state):
            if step.target != state:
                process = self.graph.process(step)
                found.append((_SYSTEM if process is None else str(name_of(process)), step))
        return found

    def _reached(self) -> list[int]:
        start = self.graph.initial[0]
        found, queue = {start: None}, deque([start])
        while queue:
            for _, step in self.steps(queue.popleft()):
                if step.target not in found:
                    found[step.target] = None
                    queue.append(step.target)
        return list(found)

    def _columns(self) -> list[tuple[str, int]]:
        """Return the columns: a process, or several for one that may choose between several steps."""
        many: dict[str, int] = {}
        for state in self.reached:
            names = [name for name, _ in self.steps(state)]
            for name in names:
                many[name] = max(many.get(name, 0), names.count(name))
        columns = [
            (name, k) for name in sorted(many, key=lambda each: (each == _SYSTEM, each)) for k in range(many[name])
        ]
        if len(columns) > MOST_COLUMNS:
            raise ValueError(
                f"{self.model.name}: a state has {len(columns)} kinds of steps; a page has {MOST_COLUMNS} at most"
            )
        return columns

    def data(self, title: str) -> dict[str, Any]:
        """Return the page's data as JSON values."""
        pictures = [self.picture(state) for state in self.reached]
        at = positions(pictures)
        rows = [self.row(state, picture, at) for state, picture in zip(self.reached, pictures, strict=True)]
        names = [name if k == 0 else f"{name}, choice {k + 1}" for name, k in self.columns]
        return {
            "title": title,
            "story": f"{self.model.summary[0].upper()}{self.model.summary[1:]}.",
            "scenario": f"{self.model.module}, {self.model.config}",
            "bound": "",
            "par": fewest_changes(rows),
            "model": self.model.property,
            "names": names,
            "calls": names,
            "before": 0,
            "after": len(names),
            "threads": [[k] for k in range(len(names))],
            "boxes": [list(each) for each in self.boxes.numbers],  # type: ignore[call-overload]
            "arrows": [],
            "texts": list(self.texts.numbers),
            "sources": {},
            "size": [WIDTH, HEIGHT],
            "configurations": [""],
            "start": [0],
            "states": rows,
        }

    def row(self, state: int, picture: Picture, at: dict[str, tuple[int, int]]) -> list[Any]:
        """Return a state as the page has it."""
        boxes = [self.boxes((x.id, *at[x.id], x.title, x.text, x.style)) for x in picture.boxes]
        used: dict[str, int] = {}
        moves, threads = [], [0] * len(self.columns)
        blank = self.texts("")
        for name, step in self.steps(state):
            column = self.columns.index((name, used.get(name, 0)))
            used[name] = used.get(name, 0) + 1
            action = self.texts(step.action)
            moves.append([column, self.number[step.target], 1, action, blank, blank, [], 1])
            threads[column] = [column, 0]  # type: ignore[call-overload]
        status = self.bad(state) or ("" if moves else "done")
        return [boxes, [], threads, sorted(moves), {}, status, []]

    def picture(self, state: int) -> Picture:
        """Return a box for each variable, or for each of its parts if it has a few."""
        picture = Picture()
        for row, (variable, value) in enumerate(self.graph.state(state).items()):
            for name, text in _parts(variable, value):
                picture.boxes.append(Box(name, (), row, name, text, "cell"))
        return picture


def _parts(variable: str, value: Value) -> list[tuple[str, str]]:
    """Return the parts of a value with their texts."""
    if isinstance(value, Function) and 1 <= len(value) <= _MOST_PARTS:
        return [(f"{variable}[{name_of(key) or show(key)}]", show(each)) for key, each in value.items()]
    if isinstance(value, tuple) and 1 <= len(value) <= _MOST_PARTS:
        return [(f"{variable}[{k}]", show(each)) for k, each in enumerate(value, start=1)]
    return [(variable, show(value))]
