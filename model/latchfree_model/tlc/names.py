"""Give each node of the Ctrie one name for a whole trace.

To keep the state space finite the modules collect garbage and renumber the nodes after every step, so a node's
address means nothing in the next state. A step writes at most one mutable field and allocates nodes; all else is
as before but for the numbers. So the nodes of two successive states are matched by walking both heaps at once:
from the registers of the processes that did not move and from the root, then along the mutable fields, where a
mismatch is the write itself, and last from the registers of the process that moved. Nodes get a letter for their
kind and a number that counts up: ``I1``, ``C2``. Of nodes that look exactly alike one may get the other's name;
nothing but the drawing depends on the names.

Modules whose memory is a sequence of nodes keep the addresses; there only the free ones are left out.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from latchfree_model.tlc.trace import Trace, TraceState
from latchfree_model.tlc.values import Function, ModelValue, Value

HEAP, REGISTERS = "mem", "L"
ADDRESSES = ("gi", "gm", "gp", "n", "rd", "ad", "src", "held")
ADDRESS_LISTS = ("path", "todo")
SLOTS, ACCUMULATED = "slot", "acc"
FREE = "-"
PRIVATE, GENERATION, STARTGEN = "n", "gen", "sg"
RENUMBERED = frozenset({*ADDRESSES, *ADDRESS_LISTS, ACCUMULATED, STARTGEN})
MUTABLE = ("main", "prev")
IMMUTABLE = ("ov", "exp", "nv")
CONTENTS = ("t", "snode", "entries")

Pair = tuple[Value, Value]


@dataclass(frozen=True, slots=True)
class Heap:
    """The nodes of one state: the address of the first is 1."""

    root: int
    nodes: tuple[Function, ...]

    def __getitem__(self, address: int) -> Function:
        return self.nodes[address - 1]


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one state's nodes, and the numbers that its generations have in the whole trace."""

    node: Mapping[int, str]
    generation: Mapping[Value, int]


def stable_names(trace: Trace) -> Trace:
    """Return the trace with names for addresses, or the trace itself if it has no such heap."""
    heaps = [heap for state in trace.states if (heap := _heap(state))]
    if len(heaps) != len(trace.states):
        bare = [_without_free(state) for state in trace.states]
        return trace if None in bare else replace(trace, states=tuple(state for state in bare if state))
    used: Counter[str] = Counter()
    names = Names({}, {})
    states = []
    for index, (state, heap) in enumerate(zip(trace.states, heaps, strict=True)):
        matched = _match(trace.states[index - 1], heaps[index - 1], state, heap) if index else {}
        names = _names(heaps[index - 1], heap, matched, names, used)
        states.append(_renamed(state, heap, names))
    return replace(trace, states=tuple(states))


def _without_free(state: TraceState) -> TraceState | None:
    """Return the state with its memory as a function from the addresses in use, None if it is no sequence of nodes."""
    memory = state.variables.get(HEAP)
    if not isinstance(memory, tuple) or not all(isinstance(node, Function) and "t" in node for node in memory):
        return None
    used: dict[Value, Value] = {}
    for address, node in enumerate(memory, start=1):
        if isinstance(node, Function) and node["t"] != FREE:
            used[address] = node
    return replace(state, variables={**state.variables, HEAP: Function(used)})


def _names(old: Heap, new: Heap, matched: Mapping[int, int], names: Names, used: Counter[str]) -> Names:
    """Return the names of the new state: those of the nodes matched, and fresh ones."""
    node: dict[int, str] = {}
    generation: dict[Value, int] = {}
    for address, record in enumerate(new.nodes, start=1):
        if address in matched:
            node[address] = names.node[matched[address]]
            if GENERATION in record:
                generation[record[GENERATION]] = names.generation[old[matched[address]][GENERATION]]
        else:
            kind = str(record["t"])
            used[kind] += 1
            node[address] = f"{kind}{used[kind]}"
    every = {record[GENERATION] for record in new.nodes if GENERATION in record}
    for fresh in sorted(every - set(generation), key=str):
        used[GENERATION] += 1
        generation[fresh] = used[GENERATION]
    return Names(node, generation)


def _heap(state: TraceState) -> Heap | None:
    memory = state.variables.get(HEAP)
    if not isinstance(memory, Function) or not isinstance(state.variables.get(REGISTERS), Function):
        return None
    root, nodes = memory.get("root"), memory.get("node")
    if not isinstance(root, int) or not isinstance(nodes, tuple):
        return None
    records = tuple(node for node in nodes if isinstance(node, Function) and "t" in node)
    return Heap(root, records) if len(records) == len(nodes) else None


def _match(before: TraceState, old: Heap, after: TraceState, new: Heap) -> dict[int, int]:
    """Return for each surviving node of the new state its address in the old one.

    The process that moved shows by its other registers; where it does not, every process is tried, and the one
    with which the heaps differ least is taken.
    """
    registers = _processes(before)
    later = _processes(after)
    visible = [p for p in registers if any(registers[p][f] != later[p][f] for f in registers[p] if f not in RENUMBERED)]
    best: dict[int, int] = {}
    least: int | None = None
    for mover in visible or registers:
        pairs = [pair for p in registers if p != mover for pair in _register_pairs(registers[p], later[p])]
        matched = _match_with(registers[mover], later[mover], pairs, old, new)
        cost = _cost(matched, pairs, old, new)
        if least is None or cost < least:
            best, least = matched, cost
    return best


def _processes(state: TraceState) -> dict[Value, Function]:
    registers = state.variables[REGISTERS]
    assert isinstance(registers, Function)
    return {process: mine for process, mine in registers.items() if isinstance(mine, Function)}


def _match_with(mine: Function, now: Function, unmoved: list[Pair], old: Heap, new: Heap) -> dict[int, int]:
    """Match two heaps, given the registers of the process that moved and the addresses the others hold."""
    matched: dict[int, int] = {}
    for pair in (*unmoved, *([(mine[PRIVATE], now[PRIVATE])] if PRIVATE in mine else []), *_roots(old, new)):
        _unify(pair, old, new, matched)
    _match_mutable(old, new, matched)
    for pair in _register_pairs(mine, now):
        _unify(pair, old, new, matched)
    _match_mutable(old, new, matched)
    return matched


def _match_mutable(old: Heap, new: Heap, matched: dict[int, int]) -> None:
    """Follow the mutable fields of matched nodes as far as they lead."""
    seen: set[int] = set()
    while rest := sorted(set(matched) - seen):
        for address in rest:
            seen.add(address)
            for field in MUTABLE:
                if field in new[address]:
                    _unify((old[matched[address]][field], new[address][field]), old, new, matched)


def _cost(matched: Mapping[int, int], unmoved: list[Pair], old: Heap, new: Heap) -> int:
    """Return how many nodes, registers and mutable fields a match leaves unexplained."""

    def same(one: Value, other: Value) -> bool:
        if not isinstance(one, int) or not isinstance(other, int) or (one < 0) != (other < 0):
            return one == other
        return one == other == 0 or matched.get(abs(other)) == abs(one)

    fields = [
        (old[one][field], new[other][field]) for other, one in matched.items() for field in MUTABLE if field in old[one]
    ]
    return len(new.nodes) - len(matched) + sum(not same(one, other) for one, other in (*unmoved, *fields))


def _roots(old: Heap, new: Heap) -> Iterator[Pair]:
    """Yield the I-nodes at the root before and after: a descriptor stands for the I-node that it replaces."""
    before, after = old[old.root], new[new.root]
    if (before["t"] == "D") == (after["t"] == "D"):
        yield old.root, new.root
    elif after["t"] == "D":
        yield old.root, after["ov"]
    else:
        yield before["nv" if before["status"] == "COMMIT" else "ov"], new.root


def _register_pairs(before: Function, after: Function) -> Iterator[Pair]:
    """Yield the addresses that the same register of a process held before and holds after."""
    for name in ADDRESSES:
        if name in before:
            yield before[name], after[name]
    for name in (*ADDRESS_LISTS, ACCUMULATED):
        yield from zip(_addresses(before.get(name, ())), _addresses(after.get(name, ())), strict=False)


def _addresses(values: Value) -> list[Value]:
    """Return the addresses in a sequence of addresses or of slots."""
    found = [value[0] if isinstance(value, tuple) and len(value) == 1 else value for value in _items(values)]
    return [value for value in found if isinstance(value, int)]


def _items(values: Value) -> tuple[Value, ...]:
    return values if isinstance(values, tuple) else ()


def _unify(pair: Pair, old: Heap, new: Heap, matched: dict[int, int]) -> None:
    """Match two addresses and all that hangs on them by immutable fields, or nothing if that is impossible."""
    found = dict(matched)
    work = [pair]
    while work:
        one, other = work.pop()
        if not isinstance(one, int) or not isinstance(other, int) or (one < 0) != (other < 0):
            return
        one, other = abs(one), abs(other)
        if one == 0 or other == 0:
            if one != other:
                return
        elif other in found or one in found.values():
            if found.get(other) != one:
                return
        else:
            found[other] = one
            mine, now = old[one], new[other]
            if any(mine.get(field) != now.get(field) for field in CONTENTS):
                return
            work += [(mine[field], now[field]) for field in IMMUTABLE if field in mine]
            for before, after in zip(_items(mine.get(SLOTS, ())), _items(now.get(SLOTS, ())), strict=True):
                if _is_link(before) and _is_link(after):
                    work.append((before[0], after[0]))  # type: ignore[index]
                elif before != after:
                    return
    matched.update(found)


def _is_link(slot: Value) -> bool:
    """Whether a slot of a C-node is a link to a child: a sequence of one address."""
    return isinstance(slot, tuple) and len(slot) == 1 and isinstance(slot[0], int)


def _renamed(state: TraceState, heap: Heap, names: Names) -> TraceState:
    def name(address: Value) -> Value:
        if not isinstance(address, int):
            return address
        if address == 0:
            return ModelValue("null")
        return ModelValue(names.node[address] if address > 0 else f"Failed({names.node[-address]})")

    def slot(value: Value) -> Value:
        return (name(value[0]),) if _is_link(value) else value  # type: ignore[index]

    def each(values: Value, rename: Callable[[Value], Value]) -> Value:
        return tuple(map(rename, values)) if isinstance(values, tuple) else values

    def record(value: Function) -> Function:
        items = {field: value[field] for field in sorted(value, key=lambda field: field != "t")}
        for field in (*ADDRESSES, *MUTABLE, *IMMUTABLE):
            if field in items:
                items[field] = name(items[field])
        for field in (GENERATION, STARTGEN):
            if field in items:
                items[field] = names.generation.get(items[field], items[field])
        for field in ADDRESS_LISTS:
            if field in items:
                items[field] = each(items[field], name)
        for field in (SLOTS, ACCUMULATED):
            if field in items:
                items[field] = each(items[field], slot)
        return Function(items)

    memory: dict[Value, Value] = {ModelValue("root"): name(heap.root)}
    memory |= {ModelValue(names.node[address]): record(node) for address, node in enumerate(heap.nodes, start=1)}
    registers = state.variables[REGISTERS]
    assert isinstance(registers, Function)
    renamed: dict[Value, Value] = dict(registers)
    renamed |= {process: record(mine) for process, mine in registers.items() if isinstance(mine, Function)}
    return replace(state, variables={**state.variables, HEAP: Function(memory), REGISTERS: Function(renamed)})
