"""Run the layers of `latchfree verify` at the same time on few processors.

Layers in Python follow one another in the main thread, where Ctrl-C arrives, and take one place together. All other
layers, of runs of TLC and of processes of our own, begin at once and share the remaining places job by job, the
largest first (`Slots`). So Java runs while numba compiles, and when the Python layers have ended their place is free
for the small jobs that are left.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Final

from latchfree_cli import exits
from latchfree_cli.commands.chain.board import Board
from latchfree_cli.commands.chain.layers import cancel
from latchfree_cli.commands.chain.rows import Layer, LayerResult, Plan
from latchfree_cli.commands.chain.ties import ties_layer
from latchfree_cli.settings import Report, Settings

FIRST: Final = float("inf")

APART: Final = (ties_layer,)
"""The layers that have a module of their own, which registers them."""


def run_layers(layers: list[Layer], settings: Settings, plan: Plan, board: Board) -> list[LayerResult]:
    """Run layers and return their rows, in the order of the layers.

    Parameters
    ----------
    layers : list of Layer
        The layers, in the order of the rows.
    settings : Settings
        The global options: the seed, the output folder, the time limit.
    plan : Plan
        How much is done, and the places at which it is done.
    board : Board
        Told when a layer begins, comes on and ends.

    Returns
    -------
    list of LayerResult
    """

    def run(layer: Layer) -> None:
        if settings.cancelled.is_set():
            return
        try:
            board.begin(layer.name)
            board.end(layer.name, _run_layer(layer, settings, plan, lambda text: board.say(layer.name, text)))
        except BaseException:  # Ctrl-C, or nobody reads the lines any more: the other layers end soon, too
            cancel(settings)
            raise

    here = [layer for layer in layers if layer.lane == "python"]
    apart = [layer for layer in layers if layer.lane == "processes"]
    with ThreadPoolExecutor(max(1, len(apart)), thread_name_prefix="layer") as pool:
        try:
            with plan.slots.taken(FIRST) if here else nullcontext(True):
                running = [pool.submit(run, layer) for layer in apart]
                for layer in here:
                    run(layer)
            for each in running:
                each.result()
        except BaseException:  # Ctrl-C while the main thread waits
            cancel(settings)
            raise
    return board.results()


def _run_layer(layer: Layer, settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Run a layer; a missing tool and a crash become rows, so that the other layers still run."""
    begun = time.monotonic()
    try:
        return layer.run(settings, plan, report)
    except Exception as error:
        expected = exits.translate(error)
        missing = expected is not None and expected.code == exits.TOOL
        return [
            LayerResult(
                layer=layer.name,
                checked="",
                amount="nothing",
                verdict="not run" if missing else "failed",
                seconds=time.monotonic() - begun,
                reason=str(expected) if expected else f"{type(error).__name__}: {error}",
            )
        ]
