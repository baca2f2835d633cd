"""Lemmas about the word-level code of latchfree, proved with Z3 for all 64-bit words, each with a wrong twin.

They are stated about the very functions that numba compiles (see `latchfree_evidence.symbolic.code`).
"""

from __future__ import annotations

from latchfree_evidence.lemmas import (
    bitmaps,
    free_lists,
    hashing,
    levels,
    mains,
    masks,
    packing,
    rings,
    sketches,
    slots,
    texts,
)
from latchfree_evidence.symbolic.lemma import Lemma

LEMMAS: dict[str, Lemma] = {
    lemma.name: lemma
    for module in (bitmaps, levels, slots, mains, packing, free_lists, hashing, texts, masks, rings, sketches)
    for lemma in module.LEMMAS
}
"""All lemmas by name."""
