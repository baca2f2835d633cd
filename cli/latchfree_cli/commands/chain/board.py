"""The table of `latchfree verify`, which fills while the layers run.

On a terminal the table is drawn anew all the time; elsewhere, as in the log of a CI job, each layer that has ended
writes its line. The whole table comes at the end.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from latchfree_cli.commands.chain.rows import Layer, LayerResult
from latchfree_cli.settings import Settings

if TYPE_CHECKING:
    from rich.table import Table


class Board:
    """What is known of each layer so far.

    Parameters
    ----------
    layers : sequence of Layer
        In the order of the table.
    clock : callable, optional
        Seconds, for the layers that run.
    """

    def __init__(self, layers: Sequence[Layer], clock: Callable[[], float] = time.monotonic) -> None:
        self._layers = [layer.name for layer in layers]
        self._clock = clock
        self._begun: dict[str, float] = {}
        self._says: dict[str, str] = {}
        self._rows: dict[str, list[LayerResult]] = {}
        self._line: Callable[[str], object] = lambda _: None

    def begin(self, layer: str) -> None:
        """Show that a layer has begun."""
        self._begun[layer] = self._clock()

    def say(self, layer: str, text: str) -> None:
        """Show how far a layer has come."""
        self._says[layer] = text

    def end(self, layer: str, rows: list[LayerResult]) -> None:
        """Show what came of a layer."""
        self._rows[layer] = rows
        for row in rows:
            self._line(f"{row.layer}: {row.verdict}: {row.amount} ({row.seconds:.1f} s)")

    def results(self) -> list[LayerResult]:
        """Return the rows of all layers; a layer that never ran, because all was cancelled, is no pass."""
        absent = "cancelled, since another layer failed"
        return [
            row
            for layer in self._layers
            for row in self._rows.get(layer, [LayerResult(layer, "", "nothing", "not run", 0.0, absent)])
        ]

    @contextmanager
    def shown(self, settings: Settings) -> Iterator[None]:
        """Show the table while it fills, or a line for each layer that has ended."""

        def line(text: str) -> None:
            if not settings.cancelled.is_set():
                settings.stderr.print(text, soft_wrap=True)

        with settings.watch(self.table) as drawn:
            if not (drawn or settings.quiet):
                self._line = line
            yield

    def table(self) -> "Table":
        """Return the table as it is now."""
        table = table_of([])
        for layer in self._layers:
            if layer in self._rows:
                add(table, self._rows[layer])
            elif layer in self._begun:
                seconds = self._clock() - self._begun[layer]
                table.add_row(layer, "", self._says.get(layer, ""), f"{seconds:.0f}", "...")
            else:
                table.add_row(layer, "", "", "", "")
        return table


def table_of(results: list[LayerResult]) -> "Table":
    """Return the table of these rows."""
    from rich.table import Table

    table = Table("layer", "checked", "how much")
    table.add_column("seconds", justify="right")
    table.add_column("verdict")
    add(table, results)
    return table


def add(table: "Table", results: list[LayerResult]) -> None:
    """Add rows to a table."""
    for result in results:
        table.add_row(result.layer, result.checked, result.amount, f"{result.seconds:.1f}", result.verdict)
