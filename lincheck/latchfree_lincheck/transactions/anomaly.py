"""An anomaly: its name, the transactions that show it, and why, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from latchfree_lincheck.transactions.edges import Edge
from latchfree_lincheck.transactions.transaction import Transaction, shown

MEANINGS: Final = {
    "G0": "writes of transactions are interleaved",
    "G1a": "a committed transaction read what an aborted one wrote",
    "G1b": "a transaction read a state from the middle of another",
    "G1c": "information flows in a circle",
    "G-single": "read skew: a transaction missed one effect of what it depends on",
    "G-nonadjacent": "transactions missed each other's effects, never two in a row",
    "G2-item": "write skew: transactions missed each other's effects",
    "internal": "a transaction contradicts its own reads and writes",
    "future-read": "a transaction read what it wrote only later",
    "duplicate-elements": "an element is in a list more often than it was appended",
    "incompatible-order": "two reads of one list are no prefixes of one another",
    "cyclic-versions": "the versions of a key cannot be ordered",
    "dirty-update": "a committed transaction built on what an aborted one wrote",
    "lost-update": "transactions read one version of a key and all replaced it",
    "garbage-read": "a transaction read what nobody wrote",
}
"""What each anomaly is; one that needs process order or real time has the suffix ``-process`` or ``-realtime``."""
CYCLES: Final = ("G0", "G1c", "G-single", "G-nonadjacent", "G2-item")
"""Cycles by the kinds of their edges, the worst first."""
SUFFIXES: Final = ("", "-process", "-realtime")
_MOST: Final = 50
_FEW: Final = 8


def meaning(name: str) -> str:
    """Return what an anomaly is, in a few words."""
    for suffix, addition in (("-process", ", if each process sees its own order"), ("-realtime", ", in real time")):
        if name.endswith(suffix):
            return MEANINGS[name.removesuffix(suffix)] + addition
    return MEANINGS[name]


@dataclass(frozen=True, slots=True)
class Anomaly:
    """What no transaction may see, at some level of isolation.

    Parameters
    ----------
    name : str
        A key of `MEANINGS`, or one of `CYCLES` with the suffix ``-process`` or ``-realtime``.
    transactions : tuple of int
        The transactions that show it, by their place in the history.
    text : str
        Why, in words.
    key : object
        The key, where the anomaly is of one.
    edges : tuple of Edge
        The cycle, if it is one: from the first transaction through the others and back.
    """

    name: str
    transactions: tuple[int, ...]
    text: str
    key: object = None
    edges: tuple[Edge, ...] = ()

    def explain(self, history: Sequence[Transaction]) -> str:
        """Return the anomaly as text for people: its transactions, then why they contradict one another."""
        width = max((len(f"T{index}") for index in self.transactions), default=0)
        lines = [f"{self.name}: {meaning(self.name)}"]
        for index in self.transactions[:_MOST]:
            lines.append(f"  {f'T{index}':<{width}} = {history[index]}{_where(history[index])}")
        if len(self.transactions) > _MOST:
            lines.append(f"  ... and {len(self.transactions) - _MOST:,} more")
        lines += [f"  {line}" for line in self.text.split("\n")]
        return "\n".join(lines)


def cycle_anomaly(name: str, edges: Sequence[Edge], kind: str) -> Anomaly:
    """Return the anomaly of a cycle; `kind` is that of the history."""
    told = edges if len(edges) <= _MOST else edges[:_MOST]
    lines = [f"T{edge.source} before T{edge.target}: {why(edge, kind)}" for edge in told]
    if len(told) < len(edges):
        lines.append(f"... and {len(edges) - _MOST:,} more, back to T{edges[0].source}")
    lines[-1] += ": a contradiction"
    return Anomaly(name, tuple(edge.source for edge in edges), "\n".join(lines), edges=tuple(edges))


def why(edge: Edge, kind: str) -> str:
    """Return in words why the source of an edge comes before its target."""
    first, second, key = f"T{edge.source}", f"T{edge.target}", shown(edge.key)
    before, after = shown(edge.before), shown(edge.after)
    lists = kind == "list-append"
    match edge.kind:
        case "wr" if lists:
            return f"{first} appended {before} to {key}, and {second} read it"
        case "wr":
            return f"{first} wrote {key} = {before}, and {second} read it"
        case "ww" if lists:
            return f"{first} appended {before} to {key}, and {second} appended {after} after it"
        case "ww":
            return f"{first} wrote {key} = {before}, and {second} the later version {after}"
        case "rw" if lists and edge.before is None:
            return f"{first} read {key} as empty, and {second} appended {after}"
        case "rw" if lists:
            return f"{first} read {key} up to {before}, and {second} appended {after} after it"
        case "rw" if edge.before is None:
            return f"{first} read {key} before any write, and {second} wrote {after}"
        case "rw":
            return f"{first} read {key} = {before}, and {second} wrote the later version {after}"
        case "process":
            return "one process ran them in this order"
        case _:
            return f"{first} returned before {second} was called"


def _where(transaction: Transaction) -> str:
    """Return who ran a transaction, how it ended if not well, and its line, in brackets."""
    parts = []
    if transaction.type != "ok":
        parts.append({"fail": "aborted", "info": "outcome unknown"}[transaction.type])
    if transaction.process is not None:
        parts.append(f"process {shown(transaction.process)}")
    if transaction.line:
        parts.append(f"line {transaction.line}")
    return f"   ({', '.join(parts)})" if parts else ""


def several(transactions: Sequence[int]) -> str:
    """Return the names of some transactions; of very many, the first and how many more there are."""
    named = ", ".join(f"T{index}" for index in transactions[:_FEW])
    return named if len(transactions) <= _FEW else f"{named} and {len(transactions) - _FEW:,} more"
