"""`Filter`: what the Bloom filters with one way to add and one way to ask have in common."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from latchfree.ctrie.columns import from_flags
from latchfree.sketches.border import SKETCH
from latchfree.sketches.buffered import Buffered
from latchfree.sketches.common.items import hash_of


class Filter(Buffered):
    """A set of items that may say "there" of a few that were not added."""

    __slots__ = ()

    #: What the names of the compiled functions begin with.
    CALLS: ClassVar[str]

    def add(self, item: str | bytes | int) -> None:
        """Add an item; see `Bloom.add`."""
        self._place.call(getattr(SKETCH, f"{self.CALLS}_add"), hash_of(item, self._place.seed))

    def add_many(self, items: Any) -> None:
        """Add items, without the interpreter lock; see `Bloom.add_many`."""
        self._add_all(getattr(SKETCH, f"{self.CALLS}_add_many"), items)

    def __contains__(self, item: object) -> bool:
        return bool(self._place.call(getattr(SKETCH, f"{self.CALLS}_contains"), hash_of(item, self._place.seed)))

    def contains_many(self, items: Any) -> Any:
        """Return of each item whether it may have been added, without the interpreter lock, in kind; see `Bloom`."""
        return from_flags(*self._answers(getattr(SKETCH, f"{self.CALLS}_contains_many"), items, np.uint8))
