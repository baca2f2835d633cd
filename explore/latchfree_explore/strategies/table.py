"""The strategies that there are, by the names that users give."""

from __future__ import annotations

from typing import Final

from latchfree_explore.strategies.bounded import BOUNDED
from latchfree_explore.strategies.directed import DIRECTED
from latchfree_explore.strategies.dpor import DPOR
from latchfree_explore.strategies.graphs import GRAPHS
from latchfree_explore.strategies.pct import PCT
from latchfree_explore.strategies.random_choice import RANDOM
from latchfree_explore.strategies.strategy import Strategy

STRATEGIES: Final[dict[str, Strategy]] = {
    strategy.name: strategy for strategy in (DPOR, GRAPHS, BOUNDED, RANDOM, PCT, DIRECTED)
}


def strategy_named(name: str) -> Strategy:
    """Return the strategy of a name.

    Raises
    ------
    ValueError
        If there is none; the message lists those that there are.
    """
    if name not in STRATEGIES:
        raise ValueError(f"unknown strategy {name!r}; there are: {', '.join(STRATEGIES)}")
    return STRATEGIES[name]
