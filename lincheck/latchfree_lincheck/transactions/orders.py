"""Edges of process order and of real time, in linear space.

Real time has up to n * n pairs of transactions of which one returned before the other was called. Here they are paths
along a chain of virtual nodes, one for each moment at which a call follows a return:

    T1 returns --> c1      T2 returns --> c2
                   c1 --> c2 --> T3 is called

so T1 and T2 reach T3, and T3, which is not over, reaches nobody.
Invariant: there is a path from T1 to T2 along the chain if and only if T1 committed and returned at a smaller time than
T2 was called at. Equal times are concurrent.
"""

from __future__ import annotations

from collections.abc import Sequence

from latchfree_lincheck.transactions.edges import ON, PROCESS, REALTIME, Graph
from latchfree_lincheck.transactions.transaction import Transaction


def add_process_edges(graph: Graph, transactions: Sequence[Transaction], committed: bytearray) -> None:
    """Add an edge from each committed transaction to the next of its process.

    One whose outcome is unknown may have committed later than its process went on: it has a predecessor and no
    successor.
    """
    latest: dict[int | str, int] = {}
    for index, transaction in enumerate(transactions):
        process = transaction.process
        if process is None or not committed[index]:
            continue
        if process in latest:
            graph.add(PROCESS, latest[process], index)
        if transaction.type == "ok":
            latest[process] = index


def add_realtime_edges(graph: Graph, transactions: Sequence[Transaction], committed: bytearray) -> None:
    """Add a chain that connects each committed transaction with those that were called after its return."""
    calls: list[tuple[int, int, int]] = []
    for index, transaction in enumerate(transactions):
        if not committed[index]:
            continue
        if transaction.invoke is not None:
            calls.append((transaction.invoke, 0, index))
        if transaction.return_ is not None and transaction.type == "ok":
            calls.append((transaction.return_, 1, index))
    calls.sort()
    chain, used = -1, True
    for _, is_return, index in calls:
        if is_return:
            if used:
                link = graph.node()
                if chain >= 0:
                    graph.add(ON, chain, link)
                chain, used = link, False
            graph.add(REALTIME, index, chain)
        elif chain >= 0:
            graph.add(ON, chain, index)
            used = True
