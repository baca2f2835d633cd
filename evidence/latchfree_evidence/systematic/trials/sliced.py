"""Slices of many items: what each counter gets, which items are wanted in the table, and how they get there.

Example: nine items are added to a row of six counters in one slice. Before the call, `own` and `wanted` hold what
somebody has left there. After it, `own` has the counters as the slice has left them, and `wanted` a 0 or a 1 of each
item.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from latchfree.sketches import CountMin, TopK
from latchfree.sketches.kernels import candidates, slices, top
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.faces import faces
from latchfree_evidence.systematic.plain.words import Raw
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require

_LEFT = 77


def slices_of(world: World, seed: int) -> None:
    """Add slices whose arrays have been used before."""
    hashes = (np.arange(9, dtype=np.uint64) % np.uint64(5) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    with faces(world):
        for made in (CountMin(0.5, 0.5), CountMin(0.5, 0.9), TopK(1, 0.5, 0.5), TopK(1, 0.5, 0.9)):
            place: Any = made._place
            width, depth = place.shape[:2]
            for round_ in (1, 2):
                own = np.full(width * depth, _LEFT, np.uint64)
                wanted = np.full(len(hashes), _LEFT, np.uint8)
                given = (Raw(place.base), 0, place.root, place.number, View(hashes), View(own))
                if isinstance(made, TopK):
                    world[slices.top_add_slice](*given, View(wanted))
                    require((wanted == 1).all(), "nothing is written yet, so each item is wanted", wanted)
                else:
                    world[slices.add_slice](*given)
                counters = place.cells[: width * depth]
                sums = counters.reshape(depth, width).sum(axis=1)
                require((sums == 9 * round_).all(), "each row has each item once", sums)
                require((own == counters).all(), "own has the counters as they were left, and nothing of before", own)
                require(made.added == 9 * round_, "what is added is counted")


def long_items(world: World, seed: int) -> None:
    """Write items whose ends have been changed meanwhile: no more than an item's room is written."""
    texts, hashes = np.frombuffer(bytes(range(256)) * 2, np.uint8), np.arange(1, 3, dtype=np.uint64)
    with faces(world):
        for size in (95, 96, 97, 104, 200):
            made, room = TopK(8), View(np.zeros(12, np.uint64))
            place: Any = made._place
            given = (Raw(place.base), 0, place.root, place.number, View(hashes), View(np.ones(2, np.uint8)))
            world[top.add_many](*given)
            ends = View(np.array([0, 3, 3 + size], np.int64))
            world[candidates.put_blobs](*given, texts.ctypes.data, ends, 0, room)
            held = {item for item, _ in made.top()}
            require(held == {bytes(range(3)), bytes(range(3, 3 + min(size, top.MOST_BYTES)))}, "what fits", held)
