"""Copies of lanes, word by word, and layers of a scalable filter that several find full at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from latchfree.sketches import ScalableBloom, TopK
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.items import hash_of
from latchfree.sketches.kernels import lanes as w
from latchfree.sketches.kernels import scalable, stable, top
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.faces import faces
from latchfree_evidence.systematic.plain.words import Raw
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.halting import Halted, everywhere
from latchfree_evidence.systematic.trials.place import require


def copies(world: World, seed: int) -> None:
    """Copy a lane: the words in use, and no others, are written."""
    room, head = 9, int(w.COPY_HEAD)
    size = int(world[w.copy_words](room))
    for version in (0, 1, 2, 3):
        for fresh, levels, used in ((0, 0, 0), (3, 1, 4), (8, 5, 20), (1, 2, 0), (2, 55, 480), (0, 60, 999)):
            mem = list(range(1000, 1000 + 8 + 2 * size + 7 * room))
            mem[int(w.STATE)] = state = version << 32 | fresh
            copy = int(w.LANE_HEAD) + (version & 1) * size
            mem[copy + int(w.LEVELS)], mem[copy + int(w.USED)] = levels, used
            for at in (0, 5):
                out = np.zeros(at + 1 + size + 9, np.uint64)
                world[w.read_lane](mem, 0, room, View(out), at)
                most = int(world[w.above](room))
                sizes = range(int(w.SIZES), int(w.SIZES) + min(levels + 1, int(w.MOST_LEVELS)))
                items = (*range(head, head + fresh), *range(head + room, head + room + min(used, most)))
                wanted = [0] * len(out)
                wanted[at] = state
                for k in (*range(int(w.GREATEST) + 1), *sizes, *items):
                    wanted[at + 1 + k] = mem[copy + k]
                require(out.tolist() == wanted, "the words in use are copied", version, fresh, levels, used)


def layers(world: World, seed: int) -> None:
    """Stop an add that fills a layer, while others fill the next ones: no item is lost, and no layer left out."""
    steps = world.stepping()
    with faces(world):

        def scene(before: int) -> bool:
            made = ScalableBloom(2, 0.01, most=60)
            made.add("first")
            place, h = made._place, int(hash_of("second", made.seed))
            kernel: Any = SKETCH.calls["scalable_add"]
            call = Halted(steps, kernel.kernel, Raw(place.base), 0, place.root, place.number, h)
            more = call.run(before)
            others = [f"other {k}" for k in range(9)]
            for item in others:
                made.add(item)
            last = made.layers
            require(last > 2, "the others have filled some layers", last)
            call.finish()
            require(made.layers in (last, last + 1), "no layer is left out", made.layers, last)
            require(all(item in made for item in ("first", "second", *others)), "no item is lost", before)
            return more

        everywhere(scene, 6)


def portions(world: World, seed: int) -> None:
    """Ask how many new items are counted at once: as many as there is room for, where there is room."""
    for items in (1, 2, 5, 600):
        for held in (0, 1, 2, 4, 599, 600, 601):
            for most in (1, 2, 300):
                mem = [0] * 200
                layer = int(world[scalable.layer_at](0, 1))
                mem[layer + int(scalable.ITEMS)], mem[layer + int(scalable.COUNT)] = items, held
                wanted = max(min(most, items - held), 1) if held < items else most
                require(world[scalable.portion_of](mem, 0, 1, most) == wanted, "a portion", items, held, most)


def fades(world: World, seed: int) -> None:
    """Stop who lowers cells, and set another cell meanwhile: it stays set, and the others are lowered once."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        mem = [0b11_00_10_01]
        call = Halted(steps, stable.fade_word, mem, 0, 0b01_01_01_01)
        more = call.run(before)
        mem[0] |= 3 << 62
        call.finish()
        require(mem[0] == 3 << 62 | 0b10_00_01_00, "cells are lowered once, and what others set stays", before)
        return more

    everywhere(scene, 2)


def torn(world: World, seed: int) -> None:
    """Stop who writes an item into the table: nobody finds bytes of two items, or half of one."""
    steps = world.stepping()
    with faces(world):

        def scene(before: int) -> bool:
            made = TopK(8, 0.5, 0.5)
            added = [f"{k}" * (5 + 7 * k) for k in range(8)]
            for k, item in enumerate(added):
                made.add(item, 3 + k)
            place, item, words = made._place, "z" * 40, np.zeros(12, np.uint64)
            words.view(np.uint8)[:40] = np.frombuffer(item.encode(), np.uint8)
            h, kernel = int(hash_of(item, made.seed)), SKETCH.calls
            put, add = (kernel[name].kernel for name in ("top_put", "top_add"))  # type: ignore[union-attr]
            world[add](Raw(place.base), 0, place.root, place.number, h, 90)
            length = 40 | int(top.TEXT)
            call = Halted(steps, put, Raw(place.base), 0, place.root, place.number, h, length, View(words))
            more = call.run(before)
            names = {shown for shown, _ in made.top(8)}
            require(names <= {*added, item}, "no item is made up", names)
            call.finish()
            require(made.top()[0][0] == item, "it is there in the end")
            return more

        everywhere(scene, 8)
