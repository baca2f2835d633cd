"""Levels of isolation, what each forbids, and which is stronger than which.

Example: a history with write skew (G2-item) is not serializable, and neither strict serializable nor repeatable read;
it may be snapshot isolation, since G2-item is no G-nonadjacent.

Sources
-------
Adya, "Weak Consistency: A Generalized Theory and Optimistic Implementations for Distributed Transactions", MIT 1999
(PL-1 read uncommitted, PL-2 read committed, PL-CS cursor stability, PL-2+ consistent view, PL-2.99 repeatable read,
PL-SI, PL-3 serializable, PL-SS strict serializable); Berenson and others, "A Critique of ANSI SQL Isolation Levels",
SIGMOD 1995; Bailis and others, "Highly Available Transactions", VLDB 2013 (monotonic atomic view); Cerone, Bernardi,
Gotsman, "A Framework for Transactional Consistency Models with Atomic Visibility", CONCUR 2015 (read atomic); Cerone,
Gotsman, "Analysing Snapshot Isolation", PODC 2016 (nonadjacent rw edges; strong session); Daudjee, Salem, "Lazy
Database Replication with Snapshot Isolation", VLDB 2006 (strong session, strong). The other strong levels carry the
same two ideas over: a session sees its own order; all see real time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from latchfree_lincheck.transactions.needs import networkx

LEVELS: Final[dict[str, tuple[str, ...]]] = {
    "read-uncommitted": (),
    "strong-session-read-uncommitted": ("read-uncommitted",),
    "strong-read-uncommitted": ("strong-session-read-uncommitted",),
    "read-committed": ("read-uncommitted",),
    "strong-session-read-committed": ("read-committed", "strong-session-read-uncommitted"),
    "strong-read-committed": ("strong-session-read-committed", "strong-read-uncommitted"),
    "monotonic-atomic-view": ("read-committed",),
    "read-atomic": ("monotonic-atomic-view",),
    "cursor-stability": ("read-committed",),
    "consistent-view": ("cursor-stability",),
    "repeatable-read": ("cursor-stability", "monotonic-atomic-view"),
    "snapshot-isolation": ("consistent-view", "read-atomic"),
    "strong-session-snapshot-isolation": ("snapshot-isolation", "strong-session-read-committed"),
    "strong-snapshot-isolation": ("strong-session-snapshot-isolation", "strong-read-committed"),
    "serializable": ("repeatable-read", "snapshot-isolation"),
    "strong-session-serializable": ("serializable", "strong-session-snapshot-isolation"),
    "strict-serializable": ("strong-session-serializable", "strong-snapshot-isolation"),
}
"""Each level, with the next weaker ones: a history that keeps the level keeps those."""

FORBIDS: Final[dict[str, tuple[str, ...]]] = {
    "read-uncommitted": ("G0", "duplicate-elements", "cyclic-versions", "garbage-read"),
    "strong-session-read-uncommitted": ("G0-process",),
    "strong-read-uncommitted": ("G0-realtime",),
    "read-committed": ("G1a", "G1b", "G1c"),
    "strong-session-read-committed": ("G1c-process",),
    "strong-read-committed": ("G1c-realtime",),
    "read-atomic": ("internal",),
    "cursor-stability": ("lost-update",),
    "consistent-view": ("G-single",),
    "repeatable-read": ("G2-item", "internal"),
    "snapshot-isolation": ("G-nonadjacent",),
    "strong-session-snapshot-isolation": ("G-nonadjacent-process",),
    "strong-snapshot-isolation": ("G-nonadjacent-realtime",),
    "strong-session-serializable": ("G2-item-process",),
    "strict-serializable": ("G2-item-realtime",),
}
"""What each level forbids besides what weaker levels do."""

IMPLIES: Final[dict[str, tuple[str, ...]]] = {
    "G0": ("G1c", "G0-process"),
    "G0-process": ("G1c-process", "G0-realtime"),
    "G0-realtime": ("G1c-realtime",),
    "G1c": ("G1c-process",),
    "G1c-process": ("G1c-realtime",),
    "G-single": ("G-nonadjacent", "G-single-process"),
    "G-single-process": ("G-nonadjacent-process", "G-single-realtime"),
    "G-single-realtime": ("G-nonadjacent-realtime",),
    "G-nonadjacent": ("G2-item", "G-nonadjacent-process"),
    "G-nonadjacent-process": ("G2-item-process", "G-nonadjacent-realtime"),
    "G-nonadjacent-realtime": ("G2-item-realtime",),
    "G2-item": ("G2-item-process",),
    "G2-item-process": ("G2-item-realtime",),
    # A transaction that read what it wrote only later depends on itself.
    "future-read": ("G1c",),
    # The shorter of two incompatible reads was taken back: it belongs to an order that never was.
    "incompatible-order": ("G1a",),
    "dirty-update": ("G1a",),
    # Of two that read one version and replaced it, the later in the version order missed the other's write: one rw
    # edge.
    "lost-update": ("G-single",),
}
"""What else each anomaly is: a level that forbids the others forbids this one. The suffixes follow from one another
because a process is sequential and its order is part of real time."""


def implied_by(names: Iterable[str]) -> set[str]:
    """Return these anomalies and all that they imply.

    >>> sorted(implied_by(["dirty-update"]))
    ['G1a', 'dirty-update']
    """
    implied: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if name not in implied:
            implied.add(name)
            stack += IMPLIES.get(name, ())
    return implied


def level_graph() -> Any:
    """Return the levels as a `networkx.DiGraph`: an edge leads from a level to a weaker one."""
    nx = networkx()
    graph: Any = nx.DiGraph()
    graph.add_nodes_from(LEVELS)
    graph.add_edges_from((level, weaker) for level, next_weaker in LEVELS.items() for weaker in next_weaker)
    return graph


def forbidden_by(level: str) -> set[str]:
    """Return the anomalies that break a level: those it forbids, those weaker levels do, and those that imply them."""
    levels, stack = set(), [level]
    while stack:
        each = stack.pop()
        if each not in levels:
            levels.add(each)
            stack += LEVELS[each]
    direct = {name for each in levels for name in FORBIDS.get(each, ())}
    names = {*IMPLIES, *direct, *(name for implied in IMPLIES.values() for name in implied)}
    return {name for name in names if not direct.isdisjoint(implied_by([name]))}


def ruled_out(names: Iterable[str]) -> set[str]:
    """Return the levels that cannot hold where these anomalies were found."""
    found = set(names)
    return {level for level in LEVELS if not found.isdisjoint(forbidden_by(level))} if found else set()


def weakest(levels: Iterable[str]) -> tuple[str, ...]:
    """Return those of some levels that are stronger than none of them, in the order of `LEVELS`."""
    return _ends(levels, "descendants")


def strongest(levels: Iterable[str]) -> tuple[str, ...]:
    """Return those of some levels that are weaker than none of them, in the order of `LEVELS`."""
    return _ends(levels, "ancestors")


def _ends(levels: Iterable[str], beyond: str) -> tuple[str, ...]:
    nx = networkx()
    chosen = set(levels)
    graph = level_graph()
    return tuple(level for level in LEVELS if level in chosen and chosen.isdisjoint(getattr(nx, beyond)(graph, level)))
