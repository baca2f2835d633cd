"""Options that name the limit they keep: for ``add_argument(type=...)``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection


def number(least: int, most: int) -> Callable[[str], int]:
    """Return a reader of whole numbers of a range."""

    def read(text: str) -> int:
        try:
            found = int(text)
        except ValueError:
            found = least - 1
        if not least <= found <= most:
            raise argparse.ArgumentTypeError(f"expected a number from {least:,} to {most:,}, got {text!r}")
        return found

    return read


def numbers_of(least: int, most: int) -> Callable[[str], tuple[int, ...]]:
    """Return a reader of whole numbers of a range, separated by commas."""
    one = number(least, most)
    return lambda text: tuple(one(part) for part in text.split(","))


def names_of(known: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """Return a reader of known names, separated by commas."""

    def read(text: str) -> tuple[str, ...]:
        names = tuple(text.split(","))
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"no peer called {name!r}; there are {', '.join(known)}")
        return names

    return read
