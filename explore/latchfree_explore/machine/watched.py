"""What is watched while schedules run: the tables behind a board, and what they say about the last schedule."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from latchfree_explore.board import layout as b
from latchfree_explore.views import tables, weakening
from latchfree_explore.weak.axioms import MODELS

#: Words touched, and writes made, in one schedule.
MOST_ROWS: Final = 1 << 20
MOST_MESSAGES: Final = 1 << 17
#: Sites that may be weakened at once.
MOST_SITES: Final = 256


class Watched:
    """Tables for one machine; without a weak memory model and without `races` there are none.

    Parameters
    ----------
    board : int64 array
        The board that is told where the tables are.
    words : int
        The size of the memory under test.
    memory : str
        A memory model, one of `latchfree_explore.weak.axioms.MODELS`.
    races : bool
        Whether data races are looked for where memory is sequentially consistent.

    Raises
    ------
    ValueError
        If there is no such memory model.
    """

    def __init__(self, board: NDArray[np.int64], words: int, memory: str, races: bool) -> None:
        if memory not in MODELS:
            raise ValueError(f"unknown memory model {memory!r}; there are: {', '.join(MODELS)}")
        self._board = board
        watch = b.WEAK if memory != "sc" else b.RACES if races else b.NOT_WATCHED
        board[b.WATCH] = watch
        if watch == b.NOT_WATCHED:
            return
        # The system gives pages of these when they are touched: a row for each word there is costs nothing.
        rows = min(words, MOST_ROWS) + 1
        self._row_of = np.zeros(words, np.int64)
        self._rows = np.zeros((rows, tables.ROW_WORDS), np.int64)
        self._messages = np.zeros((MOST_MESSAGES, tables.MESSAGE_WORDS), np.int64)
        self._clocks = np.zeros((tables.CLOCKS, b.MOST_THREADS), np.int64)
        self._sites = np.zeros((MOST_SITES, 2), np.int64)
        for at, value in (
            (b.ROW_OF, self._row_of.ctypes.data),
            (b.ROWS, self._rows.ctypes.data),
            (b.MOST_ROWS, rows),
            (b.MESSAGES, self._messages.ctypes.data),
            (b.MOST_MESSAGES, MOST_MESSAGES),
            (b.CLOCKS, self._clocks.ctypes.data),
            (b.WEAK_SITES, self._sites.ctypes.data),
        ):
            board[at] = value

    def weaken(self, sites: Mapping[int, int]) -> None:
        """From now on make the accesses of these sites weaker; how is one of `latchfree_explore.views.weakening`."""
        if len(sites) > MOST_SITES:
            raise ValueError(f"{len(sites)} sites to weaken; at most {MOST_SITES} are possible")
        for k, weakened in enumerate(sites.items()):
            self._sites[k] = weakened
        self._board[b.WEAKENED] = len(sites)

    def race(self) -> str:
        """Return what the data race of the last schedule is."""
        board = self._board
        kind = b.KINDS[int(board[b.RACE_KIND])]
        site = ctypes.string_at(int(board[b.RACE_SITE])).decode()
        other = ("a plain " if board[b.RACE_PLAIN] else "an atomic ") + ("write" if board[b.RACE_WRITES] else "read")
        return (
            f"{kind} of word {board[b.RACE_AT]} by thread {board[b.RACE_THREAD]} at {site} "
            f"and {other} by thread {board[b.RACE_OTHER]}: nothing orders the two"
        )

    def how(self, site: int) -> int:
        """Return how the accesses of a site are weakened."""
        for weakened, how in self._sites[: self._board[b.WEAKENED]].tolist():
            if weakened == site:
                return int(how)
        return weakening.AS_CODED

    def orders(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each word that has messages, and their numbers in modification order."""
        for row in self._rows[1 : self._board[b.ROWS_USED] + 1]:
            numbers = []
            k = int(row[tables.R_NEWEST])
            while k:
                numbers.append(k)
                k = int(self._messages[k, tables.M_BEFORE])
            if numbers:
                yield int(row[tables.R_WORD]), numbers[::-1]

    def pokes(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the pokes of words that had messages: the word, the thread, after how many steps, and the value."""
        used = int(self._board[b.MESSAGES_USED]) + 1
        if (self._messages[1:used, tables.M_SORT] == tables.PLAIN).any():
            for word, numbers in self.orders():
                for k in numbers:
                    poked = self.poke(k)
                    if poked is not None:
                        yield word, *poked, int(self._messages[k, tables.M_VALUE])

    def held_first(self, word: int, otherwise: int) -> int:
        """Return what a word held before its first message; or what is given, if the word has no messages."""
        k = int(self._rows[self._row_of[word], tables.R_NEWEST])
        while k:
            otherwise = int(self._messages[k, tables.M_VALUE])
            k = int(self._messages[k, tables.M_BEFORE])
        return otherwise

    def poke(self, number: int) -> tuple[int, int] | None:
        """Return the thread that poked a message, and after how many steps; None if no poke made it."""
        message = self._messages[number]
        if message[tables.M_SORT] != tables.PLAIN:
            return None
        return int(message[tables.M_THREAD]), int(message[tables.M_STEPS])
