"""What the reads of registers say: dependencies, version orders as far as they are certain, and other anomalies.

Example: T1 writes x = 1; T2 reads x = 1 and writes x = 2; T3 reads x = 1. T1 before T2 and T3 (wr), and since T2 read 1
before it wrote 2, version 2 is later than 1: T1 before T2 (ww), T3 before T2 (rw).

A blind write hides what it replaced, so that the order of versions is known in part only:

- the initial state comes before all that was written;
- what a transaction read of a key comes before what it then wrote to it;
- ``keys="sequential"``: what a process has read or written of a key comes before what its next transaction on that key
  reads or writes;
- ``keys="linearizable"``: the same for any two transactions on a key of which one returned before the other was called.

Invariant: an edge is added only from versions ordered by these rules. A value that two transactions write tells
nothing: no edge leads to or from it.
Source: Kingsbury, Alvaro, "Elle", VLDB 2020; Adya, "Weak Consistency", MIT 1999.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from latchfree_lincheck.transactions.acyclic import core_of
from latchfree_lincheck.transactions.anomaly import Anomaly, several
from latchfree_lincheck.transactions.edges import RW, WR, WW, Graph
from latchfree_lincheck.transactions.key_orders import linearizable_pairs, sequential_pairs
from latchfree_lincheck.transactions.transaction import Transaction, shown

Keys = Literal["unordered", "sequential", "linearizable"]
KEYS: Final[tuple[str, ...]] = get_args(Keys)
"""What may be taken for granted of single keys."""

_SEVERAL: Final = -2


@dataclass(slots=True)
class _Key:
    """What a history holds of one key."""

    name: Hashable
    writer: dict[Hashable, int] = field(default_factory=dict)  # of each value, or _SEVERAL
    between: set[Hashable] = field(default_factory=set)  # values that their own transaction replaced
    readers: dict[Hashable, list[int]] = field(default_factory=dict)  # of each value that another transaction wrote
    last: dict[int, Hashable] = field(default_factory=dict)  # what each transaction wrote last
    read: dict[int, Hashable] = field(default_factory=dict)  # what each transaction read before it wrote


def infer_rw_register(
    transactions: Sequence[Transaction], graph: Graph, anomalies: list[Anomaly], committed: bytearray, keys: Keys
) -> None:
    """Add the dependencies and anomalies that the reads of a register history show.

    Parameters
    ----------
    transactions : sequence of Transaction
        The history.
    graph : Graph
        Gets edges.
    anomalies : list of Anomaly
        Gets anomalies.
    committed : bytearray
        One byte for each transaction: 1 if it committed. Gets a 1 for each of unknown outcome whose value was read.
    keys : str
        One of `KEYS`.
    """
    found = _collect(transactions, anomalies)
    for key in found.values():
        _misread(key, transactions, anomalies, committed)
    for key in found.values():
        _connect(key, transactions, graph, anomalies, committed, keys)


def _collect(transactions: Sequence[Transaction], anomalies: list[Anomaly]) -> dict[Hashable, _Key]:
    """Gather writes and reads by key; report transactions that contradict themselves."""
    keys: dict[Hashable, _Key] = {}
    for index, transaction in enumerate(transactions):
        known: dict[Hashable, Hashable] = {}
        wrote: dict[Hashable, list[Hashable]] = {}
        for f, name, value in transaction.operations:
            key = keys.get(name)
            if key is None:
                key = keys[name] = _Key(name)
            version: Hashable = value
            if f == "w":
                known[name] = version
                wrote.setdefault(name, []).append(version)
                if key.writer.setdefault(version, index) != index:
                    key.writer[version] = _SEVERAL
            elif transaction.type == "ok":
                if name in known and known[name] != version:
                    text = (
                        f"T{index} read {shown(name)} = {shown(version)}, "
                        f"but its own operations before call for {shown(known[name])}"
                    )
                    anomalies.append(Anomaly("internal", (index,), text, name))
                elif name not in known:
                    key.read[index] = version
                    key.readers.setdefault(version, []).append(index)
                known[name] = version
        for name, versions in wrote.items():
            keys[name].last[index] = versions[-1]
            keys[name].between.update(version for version in versions if version != versions[-1])
    return keys


def _misread(key: _Key, transactions: Sequence[Transaction], anomalies: list[Anomaly], committed: bytearray) -> None:
    """Report what reads of a key may not see; mark as committed whose values were read."""
    name = shown(key.name)
    for value, readers in key.readers.items():
        if value is None:
            pass
        elif (writer := key.writer.get(value, -1)) == -1:
            text = f"T{readers[0]} read {name} = {shown(value)}, but nobody wrote it"
            anomalies.append(Anomaly("garbage-read", (readers[0],), text, key.name))
        elif writer != _SEVERAL:
            ending = transactions[writer].type
            if ending == "info":
                committed[writer] = 1
            for index in readers:
                if index == writer:
                    text = f"T{index} read {name} = {shown(value)} and wrote it only then"
                    anomalies.append(Anomaly("future-read", (index,), text, key.name))
                elif ending == "fail":
                    text = f"T{writer} wrote {name} = {shown(value)} and aborted, but T{index} read it"
                    anomalies.append(Anomaly("G1a", (writer, index), text, key.name))
                elif value in key.between:
                    text = (
                        f"T{index} read {name} = {shown(value)}, which T{writer} replaced by {shown(key.last[writer])}"
                    )
                    anomalies.append(Anomaly("G1b", (writer, index), text, key.name))
        lost = [index for index in readers if index in key.last]
        if len(lost) > 1 and key.writer.get(value) != _SEVERAL:
            text = f"{several(lost)} all read {name} = {shown(value)} and wrote {name}, so all but one missed a write"
            anomalies.append(Anomaly("lost-update", tuple(lost), text, key.name))


def _connect(
    key: _Key,
    transactions: Sequence[Transaction],
    graph: Graph,
    anomalies: list[Anomaly],
    committed: bytearray,
    keys: Keys,
) -> None:
    """Add the edges of a key."""
    name = key.name
    final = {}
    for index, value in key.last.items():
        if committed[index] and key.writer[value] == index:
            final[index] = value
    for value, readers in key.readers.items():
        writer = key.writer.get(value, -1) if value is not None else -1
        if writer >= 0 and committed[writer]:
            for index in readers:
                graph.add(WR, writer, index, name, value)
    later = _versions(key, transactions, committed, keys)
    cyclic = _cyclic(later)
    if cyclic:
        text = f"versions of {shown(name)} that come before and after one another: {shown(tuple(cyclic))}"
        touching = [index for value in cyclic for index in (*key.readers.get(value, ()), *_known(key, value))]
        anomalies.append(Anomaly("cyclic-versions", tuple(dict.fromkeys(touching)), text, name))
        return
    graph.fan(RW, key.readers.get(None, []), final, name, None)
    for value, following in later.items():
        targets: dict[int, object] = {}
        for version in following:
            for writer in _known(key, version):
                if writer in final and final[writer] == version:
                    targets[writer] = version
        graph.fan(WW, [writer for writer in _known(key, value) if committed[writer]], targets, name, value)
        graph.fan(RW, key.readers.get(value, []), targets, name, value)


def _known(key: _Key, value: Hashable) -> list[int]:
    """Return the one transaction that wrote a value, or nothing."""
    writer = key.writer.get(value, -1)
    return [writer] if writer >= 0 else []


def _versions(
    key: _Key, transactions: Sequence[Transaction], committed: bytearray, keys: Keys
) -> dict[Hashable, dict[Hashable, None]]:
    """Return for each version those that are certainly later, as far as the others do not imply them."""
    later: dict[Hashable, dict[Hashable, None]] = {}

    def put(first: Hashable, second: Hashable) -> None:
        several = key.writer.get(first) == _SEVERAL or key.writer.get(second) == _SEVERAL
        if first != second and not several:
            later.setdefault(first, {})[second] = None

    for index, value in key.read.items():
        if index in key.last and value is not None:
            put(value, key.last[index])
    if keys != "unordered":
        touching = sorted(index for index in {*key.read, *key.last} if committed[index])
        pairs = sequential_pairs if keys == "sequential" else linearizable_pairs
        for i, j in pairs(transactions, touching):
            first = key.last[i] if i in key.last else key.read[i]
            put(first, key.read[j] if j in key.read else key.last[j])
    return later


def _cyclic(later: dict[Hashable, dict[Hashable, None]]) -> list[Hashable]:
    """Return versions in circles: those that come before and after another one."""
    number: dict[Hashable, int] = {None: 0}
    for value, following in later.items():
        for version in (value, *following):
            number.setdefault(version, len(number))
    source = [number[value] for value, following in later.items() for _ in following]
    target = [number[version] for following in later.values() for version in following]
    if 0 in target:  # the initial state is before all others
        source += [0] * (len(number) - 1)
        target += range(1, len(number))
    names = list(number)
    return [names[node] for node in core_of(len(number), source, target)]
