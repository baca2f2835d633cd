"""Draw a small graph: DOT text for Graphviz, or SVG laid out by ourselves.

The initial states have a double border, a chosen path is bold, and the whole state is the tooltip of its box.
"""

from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Final

from latchfree_model.graph.labels import colours, on_path, state_lines, step_label
from latchfree_model.graph.layout import layers
from latchfree_model.graph.steps import Drawable, Step
from latchfree_model.tlc.values import show

READABLE: Final = 60
"""A drawing of more states than this cannot be read."""
LINE, LETTER, GAP, BETWEEN, MARGIN = 15, 6.7, 34, 74, 24
BEND: Final = 34
LIFT: Final = 20
"""How far an arc to a state of the same layer rises above the boxes."""
LABEL: Final = 0.36
"""How far down a line its label stands, as a part of its height."""
PLAIN, BOLD = "#5b6470", "#b3261e"
STYLE: Final = (
    "text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#1d2430}"
    ".step{font-size:10px;fill:#39424e;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".number{font-weight:bold}path{fill:none}"
)


def draw_dot(graph: Drawable, *, colour: str | None = None, highlight: Sequence[Step] = ()) -> str:
    """Return the graph in DOT.

    Parameters
    ----------
    graph : Drawable
        A `StateGraph`.
        The graph.
    colour : str, optional
        A variable, or a field such as ``L.w.pc``, by whose value the states are coloured.
    highlight : sequence of Step
        The steps to draw boldly.

    Raises
    ------
    KeyError
        If there is no such variable.
    """
    fill, _ = colours(graph, colour) if colour else (["#ffffff"] * len(graph), {})
    bold_states, bold_steps = on_path(highlight)
    lines = ["digraph states {", '  node [shape=box, style="filled,rounded", fontname=monospace, fontsize=10];']
    lines.append("  edge [fontname=monospace, fontsize=9];")
    for state in graph.edges:
        label = "\\n".join(map(_quoted, [str(state), *state_lines(graph, state)]))
        extra = ", peripheries=2" if state in graph.initial else ""
        extra += f', penwidth=2, color="{BOLD}"' if state in bold_states else ""
        lines.append(f'  {state} [label="{label}", fillcolor="{fill[state]}"{extra}];')
    for step in graph.steps():
        extra = f', penwidth=2, color="{BOLD}"' if step in bold_steps else ""
        lines.append(f'  {step.source} -> {step.target} [label="{_quoted(step_label(graph, step))}"{extra}];')
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def draw_svg(graph: Drawable, *, colour: str | None = None, highlight: Sequence[Step] = ()) -> str:
    """Return the graph as an SVG document; parameters and errors as for `draw_dot`."""
    return _Drawing(graph, colour, highlight).document()


class _Drawing:
    """Boxes in layers, and the lines between them; all lengths are pixels."""

    def __init__(self, graph: Drawable, colour: str | None, highlight: Sequence[Step]) -> None:
        self.graph = graph
        self.fill, self.legend = colours(graph, colour) if colour else (["#ffffff"] * len(graph), {})
        self.colour = colour or ""
        self.bold_states, self.bold_steps = on_path(highlight)
        self.lines = [[str(state), *state_lines(graph, state)] for state in range(len(graph))]
        widest = max((len(line) for lines in self.lines for line in lines), default=0)
        self.width = LETTER * widest + 16
        self.height = LINE * max(map(len, self.lines), default=0) + 10
        beside = max((len(step_label(graph, step)) for step in graph.steps() if step.source == step.target), default=-4)
        self.pitch = self.width + GAP + LETTER * (beside + 4)
        rows = layers(graph)
        margin = MARGIN + max((self._reach(step) for step in graph.steps()), default=0)
        self.span = self.pitch * (max(map(len, rows), default=1) - 1) + self.width + 2 * margin
        self.place = {
            state: (
                self.span / 2 + self.pitch * (index - (len(row) - 1) / 2),
                MARGIN + self.height / 2 + (self.height + BETWEEN) * level,
            )
            for level, row in enumerate(rows)
            for index, state in enumerate(row)
        }
        self.leave, self.enter = self._ports(0), self._ports(1)
        self.bottom = MARGIN + (self.height + BETWEEN) * len(rows)

    def _bulge(self, step: Step) -> float:
        """Return how far the arc of a step that does not lead down swings out."""
        up = self.graph.levels[step.source] - self.graph.levels[step.target]
        return BEND * min(1 + up / 2, 5) if up >= 0 and step.source != step.target else 0

    def _reach(self, step: Step) -> float:
        """Return how far the drawing of a step reaches beside the boxes."""
        if step.source == step.target:
            return BEND + LETTER * len(step_label(self.graph, step))
        bulge = self._bulge(step)
        return bulge + LETTER * len(step_label(self.graph, step)) if bulge else 0

    def _ports(self, end: int) -> dict[tuple[int, int], float]:
        """Return where the lines one layer down leave (end 0) or enter (end 1) their boxes, so that they part."""
        down = {step[:2] for step in self.graph.steps() if self.place[step.source][1] < self.place[step.target][1]}
        ports: dict[tuple[int, int], float] = {}
        for state, group in groupby(sorted(down, key=lambda pair: pair[end]), key=lambda pair: pair[end]):
            pairs = sorted(group, key=lambda pair: self.place[pair[1 - end]][0])
            for index, pair in enumerate(pairs, start=1):
                ports[pair] = self.place[state][0] + self.width * (index / (len(pairs) + 1) - 0.5)
        return ports

    def document(self) -> str:
        """Return the SVG text."""
        foot = LINE * (len(self.legend) + 1) if self.legend else 0
        width, height = f"{self.span:.0f}", f"{self.bottom + foot:.0f}"
        box = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img">'
        marks = "".join(
            f'<marker id="{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="9" markerHeight="9" '
            f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" style="fill:{paint}"/></marker>'
            for name, paint in (("plain", PLAIN), ("bold", BOLD))
        )
        steps = sorted(self.graph.steps(), key=lambda step: (step in self.bold_steps, step))
        between = groupby(sorted(steps, key=lambda step: (step.source, step.target)), key=lambda step: step[:2])
        edges = [self._edge(list(group)) for _, group in between]
        return "\n".join([
            head,
            f"<title>{len(self.graph)} states, {len(steps)} steps</title>",
            f"<style>{STYLE}</style>",
            f'<rect width="100%" height="100%" fill="#fff"/><defs>{marks}</defs>',
            *(line for line, _ in edges),
            *(self._box(state) for state in range(len(self.graph))),
            *(text for _, text in edges),
            *self._legend(),
            "</svg>\n",
        ])  # fmt: skip

    def _box(self, state: int) -> str:
        x, y = self.place[state]
        left, top = x - self.width / 2, y - self.height / 2
        border = f'stroke="{BOLD}" stroke-width="2.5"' if state in self.bold_states else f'stroke="{PLAIN}"'
        size = f'width="{self.width:.1f}" height="{self.height:.1f}" rx="6"'
        tooltip = "\n".join(f"{name} = {show(value)}" for name, value in self.graph.state(state).items())
        parts = [f'<g><title>{escape(tooltip)}</title><rect x="{left:.1f}" y="{top:.1f}" {size} {border} ']
        parts.append(f'fill="{self.fill[state]}"/>')
        if state in self.graph.initial:
            inner = f'width="{self.width - 6:.1f}" height="{self.height - 6:.1f}" rx="4"'
            parts.append(f'<rect x="{left + 3:.1f}" y="{top + 3:.1f}" {inner} fill="none" stroke="{PLAIN}"/>')
        for index, line in enumerate(self.lines[state]):
            kind = ' class="number"' if index == 0 else ""
            parts.append(f'<text x="{left + 8:.1f}" y="{top + LINE * (index + 1):.1f}"{kind}>{escape(line)}</text>')
        return "".join([*parts, "</g>"])

    def _edge(self, steps: list[Step]) -> tuple[str, str]:
        """Return the line for all steps from one state to another, and their labels."""
        source, target = steps[0].source, steps[0].target
        (x1, y1), (x2, y2) = self.place[source], self.place[target]
        half, side = self.height / 2, self.width / 2
        if source == target:
            curve = f"M{x1 + side:.1f} {y1 - 8:.1f}c30 -14 30 30 0 16"
            x, y, anchor = x1 + side + 26, y1 + 3, "start"
        elif y2 > y1:
            x1, x2 = self.leave[source, target], self.enter[source, target]
            y1, y2 = y1 + half, y2 - half
            curve = f"M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + BEND:.1f} {x2:.1f} {y2 - BEND:.1f} {x2:.1f} {y2:.1f}"
            x, y, anchor = x1 + (x2 - x1) * _ease(LABEL), y1 + (y2 - y1) * LABEL, "middle"
        else:
            way = 1 if x2 >= x1 else -1
            bulge = self._bulge(steps[0]) * way
            begin, end = x1 + side * way, x2 + side * (way if y2 < y1 else -way)
            over = half + LIFT if y1 == y2 else 0
            bend = bulge if y2 < y1 else -bulge
            curve = f"M{begin:.1f} {y1:.1f}C{begin + bulge:.1f} {y1 - over:.1f} {end + bend:.1f} {y2 - over:.1f}"
            curve += f" {end:.1f} {y2:.1f}"
            x, y = (begin + end + 0.75 * (bulge + bend)) / 2, (y1 + y2) / 2 - 0.75 * over
            anchor = "middle"
        bold = any(step in self.bold_steps for step in steps)
        paint, name = (BOLD, "bold") if bold else (PLAIN, "plain")
        line = f'<path d="{curve}" stroke="{paint}" stroke-width="{2.2 if bold else 1.1}" marker-end="url(#{name})"/>'
        labels = "".join(
            f'<text class="step" x="{x:.1f}" y="{y + 12 * index:.1f}" text-anchor="{anchor}">{escape(label)}</text>'
            for index, label in enumerate(step_label(self.graph, step) for step in steps)
        )
        return line, labels

    def _legend(self) -> list[str]:
        if not self.legend:
            return []
        rows = [f'<text x="{MARGIN}" y="{self.bottom:.1f}" class="number">{escape(self.colour)}</text>']
        for index, (value, paint) in enumerate(self.legend.items(), start=1):
            y = self.bottom + LINE * index
            rows.append(f'<rect x="{MARGIN}" y="{y - 10:.1f}" width="12" height="12" fill="{paint}" stroke="{PLAIN}"/>')
            rows.append(f'<text x="{MARGIN + 18}" y="{y:.1f}">{escape(value)}</text>')
        return rows


def _ease(part: float) -> float:
    """Return how far sideways the curve of a step has come when it has come this far down."""
    return 3 * part**2 - 2 * part**3
