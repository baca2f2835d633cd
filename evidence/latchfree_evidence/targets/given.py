"""Targets with operations that only scenarios of ours have, and random ones do not.

Example: ``drain(1)`` of the counting filter removes an item 255 times, which a program of other steps has no need of.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from latchfree_explore.scenario import Invocation
from latchfree_explore.target import Target


@dataclass(frozen=True)
class GivenTarget(Target):
    """A target with operations that random scenarios leave out: long ones, and ones that ask at a certain time.

    Parameters
    ----------
    given : frozenset of str
        Their names.
    """

    given: frozenset[str] = frozenset()

    def invoke(self, rng: random.Random, fresh: Any) -> Invocation:
        """Return a random operation of the others."""
        name = rng.choice([each for each in self.operations if each not in self.given])
        return Invocation(name, tuple(next(fresh) for _ in range(self.operation(name).arity)))
