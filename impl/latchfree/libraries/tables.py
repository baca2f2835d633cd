"""The tables of calls that the library of this package is made of."""

from __future__ import annotations

from typing import Final

from latchfree.arena.border import ARENA
from latchfree.border import Border
from latchfree.ctrie.border import TRIE
from latchfree.limiting.border import BUCKET
from latchfree.sketches.border import SKETCH
from latchfree.streams.border import RING
from latchfree.topics.concurrent.border import TOPICS
from latchfree.topics.mask.border import MASK

BORDERS: Final[tuple[Border, ...]] = (ARENA, TRIE, RING, SKETCH, BUCKET, TOPICS, MASK)
"""All calls of the package."""
