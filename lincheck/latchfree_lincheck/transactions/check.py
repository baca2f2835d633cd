"""Which anomalies a history of transactions shows, and which levels of isolation they rule out.

Example: `check_transactions` of two transactions that each missed the other's append finds G2-item: write skew.

Invariant: an anomaly is reported only if it is in every execution that explains the reads; a history that some serial
order explains, in real time, has none. The converse does not hold: what nobody read shows nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from latchfree_lincheck.transactions.anomaly import Anomaly, cycle_anomaly
from latchfree_lincheck.transactions.cycles import find_cycles
from latchfree_lincheck.transactions.edges import Graph
from latchfree_lincheck.transactions.levels import LEVELS
from latchfree_lincheck.transactions.list_append import infer_list_append
from latchfree_lincheck.transactions.orders import add_process_edges, add_realtime_edges
from latchfree_lincheck.transactions.report import TransactionReport
from latchfree_lincheck.transactions.rw_register import KEYS, Keys, infer_rw_register
from latchfree_lincheck.transactions.transaction import WRITES, Kind, Transaction, kind_of, require_valid


def check_transactions(
    transactions: Sequence[Transaction],
    kind: Kind | None = None,
    *,
    level: str = "strict-serializable",
    keys: Keys = "unordered",
) -> TransactionReport:
    """Find the anomalies of a history of transactions.

    Parameters
    ----------
    transactions : sequence of Transaction
        Those that committed, aborted (``fail``) and whose outcome is unknown (``info``), in the order of their calls.
    kind : "list-append" or "rw-register", optional
        What keys hold; by default told from the operations.
    level : str
        The level of isolation that is promised, one of `latchfree_lincheck.transactions.LEVELS`.
    keys : "unordered", "sequential" or "linearizable"
        What may be taken for granted of each single register. See `latchfree_lincheck.transactions.rw_register`.

    Returns
    -------
    TransactionReport
        A violation if an anomaly breaks the level; ``nothing`` if no transaction committed.

    Raises
    ------
    TypeError
        If something is no `Transaction`.
    ValueError
        If the kind, the level or `keys` is unknown; if a transaction is not one of this kind; or if two append the same
        element to a key.
    """
    if level not in LEVELS:
        raise ValueError(f"no level of isolation is called {level!r}; choose one of {', '.join(LEVELS)}")
    if keys not in KEYS:
        raise ValueError(f"keys={keys!r} is unknown; choose one of {', '.join(KEYS)}")
    if kind is not None and kind not in WRITES:
        raise ValueError(f"no kind of history is called {kind!r}; choose one of {', '.join(WRITES)}")
    history = tuple(transactions)
    for index, transaction in enumerate(history):
        if not isinstance(transaction, Transaction):
            raise TypeError(f"expected a Transaction at place {index} of the history, got {type(transaction).__name__}")
    if not any(transaction.operations and transaction.type == "ok" for transaction in history):
        return TransactionReport(history, kind or "list-append", level, ())
    chosen = kind_of(history) if kind is None else kind
    if chosen == "list-append" and keys != "unordered":
        raise ValueError(f"keys={keys!r} is for rw-register: reads of lists tell the order of versions themselves")
    require_valid(history, chosen)
    graph, anomalies = infer(history, chosen, keys)
    anomalies += [cycle_anomaly(name, edges, chosen) for name, edges in find_cycles(graph)]
    return TransactionReport(history, chosen, level, tuple(anomalies))


def infer(history: Sequence[Transaction], kind: Kind, keys: Keys = "unordered") -> tuple[Graph, list[Anomaly]]:
    """Return the dependency graph of a history, and its anomalies that are no cycles."""
    graph = Graph(len(history))
    anomalies: list[Anomaly] = []
    committed = bytearray(transaction.type == "ok" for transaction in history)
    if kind == "list-append":
        infer_list_append(history, graph, anomalies, committed)
    else:
        infer_rw_register(history, graph, anomalies, committed, keys)
    add_process_edges(graph, history, committed)
    add_realtime_edges(graph, history, committed)
    return graph, anomalies
