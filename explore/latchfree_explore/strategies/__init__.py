"""Strategies: which thread goes next, and which schedule comes next; one file each, listed in `table`.

A strategy is an object (`strategy.Strategy`) with compiled functions. `dispatch` calls those of the strategy that a
board was given.
"""
