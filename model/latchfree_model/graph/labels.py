"""Label states and steps in a drawing: short texts, and a colour for each value of one variable."""

from collections.abc import Sequence
from typing import Final

from latchfree_model.graph.rows import name_of
from latchfree_model.graph.steps import Drawable, Step
from latchfree_model.tlc.values import Function, Value, show

WIDTH: Final = 26
LINES: Final = 6
PALETTE: Final = ("#cfe8f7", "#fde3b8", "#c9ebd9", "#f6d3e6", "#f9f3ae", "#d9d2ef", "#f8cfc0", "#d6d6d6")
"""Light colours that differ also for the colour-blind, after Okabe and Ito; the last is for all further values."""


def state_lines(graph: Drawable, state: int) -> list[str]:
    """Return the short text of a state: the ``pc`` of each process, and the other variables that are short enough."""
    lines = []
    for column, text in zip(graph.rows.columns, graph.rows[state], strict=True):
        if column.process is not None:
            counter = graph.rows.counter(text)
            lines.append(f"{name_of(column.process)}: {counter if isinstance(counter, str) else show(counter or 0)}")
        else:
            lines.append(f"{column.variable} = {show(graph.rows.value(text))}")
    short = [line for line in lines if len(line) <= WIDTH]
    return short[:LINES]


def step_label(graph: Drawable, step: Step) -> str:
    """Return the action of a step, and its process if there are several."""
    process = graph.process(step)
    return f"{step.action}({name_of(process)})" if process is not None else step.action


def value_at(graph: Drawable, state: int, place: str) -> Value:
    """Return the value of a variable, or of a field in it such as ``L.w.pc``.

    Raises
    ------
    KeyError
        If there is no such variable or field; the message names those that there are.
    """
    variables: dict[Value, Value] = dict(graph.state(state).items())
    value: Value = Function(variables)
    for name in place.split("."):
        items: dict[str, Value] = {}
        if isinstance(value, Function):
            items = {key if isinstance(key, str) else show(key): item for key, item in value.items()}
        elif isinstance(value, tuple):
            items = {str(index): item for index, item in enumerate(value, start=1)}
        if name not in items:
            raise KeyError(f"no {name!r} in {place!r}: expected one of {', '.join(items) or 'nothing'}")
        value = items[name]
    return value


def colours(graph: Drawable, place: str) -> tuple[list[str], dict[str, str]]:
    """Return the colour of each state by the value at a place, and the legend: the colour of each value.

    The most frequent values get colours of their own.
    """
    texts = [show(value_at(graph, state, place)) for state in range(len(graph))]
    frequent = sorted(set(texts), key=lambda text: (-texts.count(text), text))
    own = dict(zip(frequent, PALETTE[:-1], strict=False))
    legend = {text: own[text] for text in sorted(own)}
    if len(frequent) > len(own):
        legend["other values"] = PALETTE[-1]
    return [own.get(text, PALETTE[-1]) for text in texts], legend


def on_path(highlight: Sequence[Step]) -> tuple[set[int], set[Step]]:
    """Return the states and the steps to be drawn boldly."""
    return {state for step in highlight for state in (step.source, step.target)}, set(highlight)
