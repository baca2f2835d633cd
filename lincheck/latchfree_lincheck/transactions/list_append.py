"""What the reads of lists say: version orders, dependencies, and anomalies that are no cycles.

Example: T1 appends 1 to x, T2 appends 2, and T3 reads x = [1 2]. The list only grows, so its versions were [], [1] and
[1 2], in this order: T1 before T2 (ww), T2 before T3 (wr). A T4 that reads [1] comes after T1 and before T2 (rw).

Invariant: the longest read of a key is its version order, as far as known; elements that no read has come after it, in
an unknown order. This is certain: elements are unique and a list only grows, so that the lists a correct database shows
are prefixes of one another. Source: Kingsbury, Alvaro, "Elle: Inferring Isolation Anomalies from Experimental
Observations", VLDB 2020.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from latchfree_lincheck.transactions.anomaly import Anomaly, several
from latchfree_lincheck.transactions.edges import RW, WR, WW, Graph
from latchfree_lincheck.transactions.transaction import Transaction, name_of, shown

Value = tuple[Hashable, ...]


@dataclass(slots=True)
class _Key:
    """What a history holds of one key."""

    name: Hashable
    writer: dict[Hashable, int] = field(default_factory=dict)  # of each element
    between: set[Hashable] = field(default_factory=set)  # elements that are not the last of their transaction
    reads: list[tuple[Value, int]] = field(default_factory=list)  # all results, with who read
    external: list[tuple[Value, int, bool]] = field(default_factory=list)  # what others wrote; own appends before?
    order: Value = ()  # the longest read
    place: dict[Hashable, int] = field(default_factory=dict)  # of each element in it
    elsewhere: set[Hashable] = field(default_factory=set)  # elements of reads that are no prefixes of it
    next: list[int] = field(default_factory=list)  # place of the first committed element from each place on
    previous: list[int] = field(default_factory=list)  # and of the last before it, or -1


def infer_list_append(
    transactions: Sequence[Transaction], graph: Graph, anomalies: list[Anomaly], committed: bytearray
) -> None:
    """Add the dependencies and anomalies that the reads of a list-append history show.

    Parameters
    ----------
    transactions : sequence of Transaction
        The history.
    graph : Graph
        Gets edges.
    anomalies : list of Anomaly
        Gets anomalies.
    committed : bytearray
        One byte for each transaction: 1 if it committed. Gets a 1 for each of unknown outcome whose element was read.

    Raises
    ------
    ValueError
        If an element is appended to a key twice: then no read tells who wrote what it holds.
    """
    keys = _collect(transactions, anomalies)
    for key in keys.values():
        _order(key, transactions, anomalies, committed)
    later = _unread(transactions, keys, committed)
    for key in keys.values():
        _neighbours(key, committed)
        _connect(key, graph, later.get(key.name, {}))
        _misread(key, transactions, anomalies, committed)
        _lost(key, transactions, anomalies)


def _collect(transactions: Sequence[Transaction], anomalies: list[Anomaly]) -> dict[Hashable, _Key]:
    """Gather appends and reads by key; report transactions that contradict themselves."""
    keys: dict[Hashable, _Key] = {}
    for index, transaction in enumerate(transactions):
        known: dict[Hashable, Value] = {}  # what a read of a key must return
        own: dict[Hashable, list[Hashable]] = {}  # what it must end with
        for f, name, value in transaction.operations:
            key = keys.get(name)
            if key is None:
                key = keys[name] = _Key(name)
            if f == "append":
                element: Hashable = value
                if element in key.writer:
                    first = key.writer[element]
                    raise ValueError(
                        f"{name_of(index, transaction)} appends {shown(element)} to {shown(name)}, as "
                        f"{name_of(first, transactions[first])} does; append an element to a key only once"
                    )
                key.writer[element] = index
                if name in own:
                    key.between.add(own[name][-1])
                own.setdefault(name, []).append(element)
                if name in known:
                    known[name] += (element,)
            elif transaction.type == "ok":
                result: Value = value if isinstance(value, tuple) else ()
                key.reads.append((result, index))
                if name in known:
                    if result != known[name]:
                        anomalies.append(_contradiction(index, name, result, shown(known[name])))
                elif name in own:
                    mine = tuple(own[name])
                    if result[-len(mine) :] != mine:
                        anomalies.append(_contradiction(index, name, result, f"a list that ends with {shown(mine)}"))
                    else:
                        key.external.append((result[: -len(mine)], index, True))
                else:
                    key.external.append((result, index, False))
                known[name] = result
    return keys


def _contradiction(index: int, name: Hashable, result: Value, expected: str) -> Anomaly:
    text = f"T{index} read {shown(name)} = {shown(result)}, but its own operations before call for {expected}"
    return Anomaly("internal", (index,), text, name)


def _order(key: _Key, transactions: Sequence[Transaction], anomalies: list[Anomaly], committed: bytearray) -> None:
    """Choose the version order of a key; report reads that do not fit, and what nobody wrote."""
    if not key.reads:
        return
    longest, reader = max(key.reads, key=lambda read: len(read[0]))
    key.order = longest
    for place, element in enumerate(longest):
        key.place.setdefault(element, place)
    strange = [(value, index) for value, index in key.reads if longest[: len(value)] != value]
    for value, index in strange:
        key.elsewhere.update(value)
        at = next(place for place, (a, b) in enumerate(zip(value, longest, strict=False)) if a != b)
        text = (
            f"T{index} read {shown(key.name)} = {shown(value)} and T{reader} read {shown(longest)}: "
            f"after {at} equal elements, {shown(value[at])} and {shown(longest[at])}"
        )
        anomalies.append(Anomaly("incompatible-order", (index, reader), text, key.name))
    odd = {index for _, index in strange}
    if odd:
        key.external = [each for each in key.external if longest[: len(each[0])] == each[0]]
    reported: set[Hashable] = set()
    for value, index in key.reads if len(key.place) < len(longest) else strange:
        if len(set(value)) < len(value):
            twice = ", ".join(shown(element) for element, count in Counter(value).items() if count > 1)
            text = f"T{index} read {shown(key.name)} = {shown(value)}, which holds {twice} more than once"
            anomalies.append(Anomaly("duplicate-elements", (index,), text, key.name))
    fitting = sorted((len(value), index) for value, index in key.reads if longest[: len(value)] == value)
    for value, index in [(longest, reader), *strange]:
        for place, element in enumerate(value):
            writer = key.writer.get(element, -1)
            if writer >= 0 and transactions[writer].type == "info":
                committed[writer] = 1
            if (writer < 0 or transactions[writer].type == "fail") and element not in reported:
                reported.add(element)
                seen = (len(value), index)
                if value is longest:  # the shortest read that holds the element
                    seen = fitting[bisect_right(fitting, place, key=lambda read: read[0])]
                _unwritten(key, element, writer, seen[1], value[: seen[0]], anomalies)


def _unwritten(key: _Key, element: Hashable, writer: int, index: int, value: Value, anomalies: list[Anomaly]) -> None:
    """Report an element that was read and that nobody wrote, or only an aborted transaction."""
    read = f"T{index} read {shown(key.name)} = {shown(value)}"
    if writer < 0:
        anomalies.append(Anomaly("garbage-read", (index,), f"{read}, but nobody appended {shown(element)}", key.name))
    else:
        text = f"T{writer} appended {shown(element)} to {shown(key.name)} and aborted, but {read}"
        anomalies.append(Anomaly("G1a", (writer, index), text, key.name))


def _unread(
    transactions: Sequence[Transaction], keys: dict[Hashable, _Key], committed: bytearray
) -> dict[Hashable, dict[int, object]]:
    """Return by key who committed an append that no read holds, each with the first such element."""
    later: dict[Hashable, dict[int, object]] = {}
    for index, transaction in enumerate(transactions):
        if committed[index]:
            for f, name, element in transaction.operations:
                key = keys[name]
                if f == "append" and element not in key.place and element not in key.elsewhere:
                    later.setdefault(name, {}).setdefault(index, element)
    return later


def _neighbours(key: _Key, committed: bytearray) -> None:
    """Find for each place in the order the nearest elements that committed transactions wrote."""
    length = len(key.order)
    writers = [
        writer if writer >= 0 and committed[writer] and key.place[element] == place else -1
        for place, element in enumerate(key.order)
        for writer in (key.writer.get(element, -1),)
    ]
    key.previous = [-1] * (length + 1)
    for place in range(length):
        key.previous[place + 1] = place if writers[place] >= 0 else key.previous[place]
    key.next = [length] * (length + 1)
    for place in range(length - 1, -1, -1):
        key.next[place] = place if writers[place] >= 0 else key.next[place + 1]


def _connect(key: _Key, graph: Graph, later: dict[int, object]) -> None:
    """Add the edges of a key."""
    order, writer, length = key.order, key.writer, len(key.order)
    name = key.name
    for place in range(length):
        previous = key.previous[place]
        if key.next[place] == place and previous >= 0:
            graph.add(WW, writer[order[previous]], writer[order[place]], name, order[previous], order[place])
    last = key.previous[length]
    if last >= 0:
        graph.fan(WW, [writer[order[last]]], later, name, order[last])
    readers: list[int] = []
    for value, index, appended in key.external:
        if appended:
            continue  # its own element stands behind what it read, and the ww edges say the rest
        at = len(value)
        before = key.previous[at]
        if before >= 0:
            graph.add(WR, writer[order[before]], index, name, order[before])
        seen = order[at - 1] if at else None
        after = key.next[at]
        if after < length:
            graph.add(RW, index, writer[order[after]], name, seen, order[after])
        else:
            readers.append(index)
    graph.fan(RW, readers, later, name, order[-1] if order else None)


def _misread(key: _Key, transactions: Sequence[Transaction], anomalies: list[Anomaly], committed: bytearray) -> None:
    """Report intermediate reads, future reads and dirty updates of a key."""
    name = shown(key.name)
    mine: dict[int, list[Hashable]] = {}
    for element, writer in key.writer.items():
        if element in key.place:
            mine.setdefault(writer, []).append(element)
    for value, index, appended in key.external:
        element = value[-1] if value else None
        if value and element in key.between and key.writer[element] != index:
            writer = key.writer[element]
            if committed[writer]:
                read = f"T{index} read {name} = {shown(value)}"
                text = f"{read}, but T{writer} appended more to {name} after {shown(element)}"
                anomalies.append(Anomaly("G1b", (writer, index), text, key.name))
        for own in () if appended else mine.get(index, ()):
            if key.place[own] < len(value):
                text = f"T{index} read {name} = {shown(value)} and appended {shown(own)} only then"
                anomalies.append(Anomaly("future-read", (index,), text, key.name))
                break
    for place, element in enumerate(key.order):
        writer = key.writer.get(element, -1)
        after = key.next[place]
        if writer >= 0 and transactions[writer].type == "fail" and after < len(key.order):
            later = key.writer[key.order[after]]
            text = (
                f"T{writer} appended {shown(element)} to {name} and aborted, "
                f"but T{later} appended {shown(key.order[after])} after it"
            )
            anomalies.append(Anomaly("dirty-update", (writer, later), text, key.name))


def _lost(key: _Key, transactions: Sequence[Transaction], anomalies: list[Anomaly]) -> None:
    """Report transactions that read the same version of a key and then appended to it."""
    appended = {writer for writer in key.writer.values() if transactions[writer].type == "ok"}
    same: dict[int, list[int]] = {}
    for value, index, own in key.external:
        if not own and index in appended:
            same.setdefault(len(value), []).append(index)
    for length, found in same.items():
        if len(found) > 1:
            text = (
                f"{several(found)} all read {shown(key.name)} = {shown(key.order[:length])} "
                "and appended to it, so all but one missed an append"
            )
            anomalies.append(Anomaly("lost-update", tuple(found), text, key.name))
