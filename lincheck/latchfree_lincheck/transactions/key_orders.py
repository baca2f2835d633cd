"""Pairs of transactions on one key of which the first came before the second, by process or by real time.

Example: a process writes x = 1, then reads x = 2. If single keys are sequential, version 1 came before version 2.

Invariant: the pairs are those of the transitive reduction. A pair that follows from others is left out, so that there
are about as many pairs as transactions times the number of them that overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from latchfree_lincheck.transactions.transaction import Transaction


def sequential_pairs(transactions: Sequence[Transaction], touching: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield each transaction with the next of its process, of those that touch a key."""
    latest: dict[int | str, int] = {}
    for index in touching:
        process = transactions[index].process
        if process is not None:
            if process in latest:
                yield latest[process], index
            if transactions[index].type == "ok":
                latest[process] = index


def linearizable_pairs(transactions: Sequence[Transaction], touching: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield each transaction with those that returned last before its call, of those that touch a key."""
    events: list[tuple[int, int, int]] = []
    for index in touching:
        transaction = transactions[index]
        if transaction.invoke is not None:
            events.append((transaction.invoke, 0, index))
        if transaction.return_ is not None and transaction.type == "ok":
            events.append((transaction.return_, 1, index))
    events.sort()
    latest: set[int] = set()  # returned, and before nobody who has returned
    before: dict[int, frozenset[int]] = {}
    for _, is_return, index in events:
        if is_return:
            latest -= before.pop(index, frozenset())
            latest.add(index)
        else:
            before[index] = frozenset(latest)
            for other in sorted(latest):
                yield other, index
