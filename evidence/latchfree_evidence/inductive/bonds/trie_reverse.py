"""The trie and its model the other way: what a thread of the system does alone, a process of TLC does.

Example: nothing is pending, and a process is about to begin ``remove a``. In TLC the process goes on alone until the
tree has changed: it has made a tomb of the other key. A thread of the system that begins the same in that tree and
goes on alone makes the same tomb, and can make nothing else.

Rule: in every state of TLC in which no main node is pending and no descriptor is in the root, for each operation that
an idle process may begin, the trees after the first change are the same. (A process in the midst of an operation may
answer by what it has read before; a thread of the system that did so has no other step left, and changes nothing.)

The system leaves three things open, since its theorem needs none of them. Here they are decided as the module decides
them: a removal and a cleaner that leave one key below the root leave it in a tomb; who meets a tomb cleans its parent,
and nobody cleans elsewhere; a cleaner takes all tombs that are there. Levels that the code makes by one GCAS are one
change. What a thread may install are main nodes as the model has at that place in any tree, with all I-nodes there.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from latchfree_evidence.inductive.bonds.trie_trees import THREAD, Call, INode, found, key_of, nodes_of, single
from latchfree_evidence.inductive.instance import Instance, Taken
from latchfree_evidence.inductive.system import State, System
from latchfree_evidence.inductive.systems.trie.finite import NONE, SLOTS, Main, instance
from latchfree_evidence.inductive.systems.trie.words import SWAPS
from latchfree_evidence.inductive.tie import Values
from latchfree_model.graph.state_graph import StateGraph

Shapes = Mapping[str, Sequence[tuple[str, tuple[Any, ...]]]]
"""The main nodes that a model has at each place: kind, and what they hold, with None for a child."""


def reverse(
    system: System, hashes: Mapping[str, str], graph: StateGraph, values: Sequence[Values], trees: Sequence[INode]
) -> tuple[int, Counter[str], Counter[str]]:
    """Compare first changes.

    Returns
    -------
    int
        How many changes of the system are those of TLC.
    Counter
        Those of the system that TLC does not make, by operation.
    Counter
        Those of TLC that the system does not make, by operation.
    """
    shapes = _shapes(trees)
    offered: dict[tuple[INode, Call], frozenset[INode]] = {}
    steps, no_edge, no_step = 0, Counter[str](), Counter[str]()
    for number, each in enumerate(values):
        if not _quiet(each):
            continue
        made: dict[Call, set[INode]] = defaultdict(set)
        for call, tree in _begun(graph, values, trees, number):
            made[call].update(() if tree is None else (tree,))
        for call, theirs in made.items():
            key = (trees[number], call)
            if key not in offered:
                offered[key] = frozenset(_offered(system, trees[number], call, hashes, shapes))
            steps += len(offered[key] & theirs)
            no_edge[f"alone, {call[0]}"] += len(offered[key] - theirs)
            no_step[f"alone, {call[0]}"] += len(theirs - offered[key])
    return steps, +no_edge, +no_step


def _quiet(values: Values) -> bool:
    """Return whether nothing is pending, and the root is an I-node."""
    nodes = values["mem"]["node"]
    settled = all(nodes[node["main"] - 1]["prev"] == 0 for node in nodes if node["t"] == "I")
    return settled and nodes[values["mem"]["root"] - 1]["t"] == "I"


def _begun(
    graph: StateGraph, values: Sequence[Values], trees: Sequence[INode], number: int
) -> Iterator[tuple[Call, INode | None]]:
    """Yield what an idle process may begin, and the tree after its first change if it goes on alone."""
    for edge in graph.steps_from(number):
        if edge.action == "Invoke":
            before, after = values[number]["L"], values[edge.target]["L"]
            (process,) = [name for name in before if before[name]["pc"] == "idle" != after[name]["pc"]]
            op = after[process]["op"]
            at: int | None = edge.target
            while at is not None and trees[at] == trees[number] and values[at]["L"][process]["pc"] != "idle":
                at = _step_of(graph, values, at, process)
            if at is not None:
                changed = trees[at] != trees[number]
                yield (op["op"], op["key"] or "a", op["val"] or 1), trees[at] if changed else None


def _step_of(graph: StateGraph, values: Sequence[Values], number: int, process: str) -> int | None:
    """Return the state after the next step of a process; None if the graph does not tell which one is its."""
    pc = values[number]["L"][process]["pc"]
    steps = [edge for edge in graph.steps_from(number) if edge.action == pc]
    if len(steps) > 1:
        steps = [edge for edge in steps if graph.process(edge) == process]
    return steps[0].target if len(steps) == 1 else None


def _shapes(trees: Sequence[INode]) -> Shapes:
    found: dict[str, dict[tuple[str, tuple[Any, ...]], None]] = defaultdict(dict)

    def note(node: INode, place: str) -> None:
        parts = tuple(None if len(part) == 1 else part for part in node.parts)
        found[place][node.kind, parts] = None
        for digit, part in enumerate(node.parts):
            if len(part) == 1:
                note(part[0], f"{place}{digit}")

    for tree in dict.fromkeys(trees):
        note(tree, "")
    return {place: list(seen) for place, seen in found.items()}


def _alone(system: System, tree: INode, call: Call, hashes: Mapping[str, str], shapes: Shapes) -> Instance:
    """Return one thread in a tree, that may install whatever the model has anywhere."""
    old = {(place, node.gen): node for place, node in nodes_of(tree)}
    new = [(place, tree.gen) for place in shapes] + ([("", tree.gen + 1)] if call[0] in SWAPS else [])
    names = {key: i for i, key in enumerate(dict.fromkeys([*old, *new]), 1)}

    def contents(place: str, kind: str, parts: tuple[Any, ...], gens: Sequence[int | None]) -> Main:
        if kind == "L":
            return dict(parts)
        if kind == "T":
            ((k, v),) = parts
            return (k, v)
        one, other = (
            (names[f"{place}{digit}", gen],) if gen is not None else part
            for digit, (part, gen) in enumerate(zip(parts, gens, strict=True))
        )
        return (one, other)

    def all_of(place: str, kind: str, parts: tuple[Any, ...]) -> Iterator[Main]:
        choices = [
            [gen for where, gen in names if where == f"{place}{digit}" and gen <= tree.gen] if part is None else [None]
            for digit, part in enumerate(parts)
        ]
        for gens in itertools.product(*choices) if kind == "C" else [()]:
            yield contents(place, kind, parts, gens)

    mains: list[Main] = []
    for (place, _), node in old.items():
        parts = tuple(None if len(part) == 1 else part for part in node.parts)
        gens = [part[0].gen if len(part) == 1 else None for part in node.parts]
        mains.append(contents(place, node.kind, parts, gens))
    cells = {names[key]: m for m, key in enumerate(old, 1)}
    for place, kinds in shapes.items():
        mains += [main for kind, parts in kinds for main in all_of(place, kind, parts)]
    held = {part for node in old.values() for part in node.parts if len(part) == 2}
    for place in (place for place in shapes if (place, tree.gen) not in old):
        mains += [single(k, v, hashes[k][len(place) : len(place) + 1]) for k, v in held]
    if call[0] == "clear":
        mains.append((NONE, NONE))
    mains = [*mains[: len(old)], *_different(mains[len(old) :])]
    return instance(system, hashes, {THREAD: [call]}, list(names), cells, mains, [(THREAD, i) for i in cells])


def _different(mains: Sequence[Main]) -> list[Main]:
    return list({repr(sorted(main.items()) if isinstance(main, Mapping) else main): main for main in mains}.values())


def _offered(system: System, tree: INode, call: Call, hashes: Mapping[str, str], shapes: Shapes) -> Iterator[INode]:
    """Yield the trees after the first change of a thread that begins a call and goes on alone."""
    alone = _alone(system, tree, call, hashes, shapes)
    start = alone.state(next(system.starts(alone.domains)))
    queue: list[tuple[State, str | None, INode]] = [(start, None, tree)]
    seen = {(key_of(alone, start), queue[0][1])}
    first = True
    for s, tomb, now in queue:
        for taken in alone.steps(s):
            if not _decided(s, taken, tomb, first):
                continue
            post = taken.case.post
            after = found(post, alone)
            if after != now and taken.name != "BuildSlot":
                if not _one_left(after):
                    yield after
                continue
            met = s.place(s.ci(THREAD)) if taken.step == "AtMain:tomb" else tomb
            if post.pc(THREAD) == "idle" and met is None:
                continue
            if (key := (key_of(alone, post), met)) not in seen:
                seen.add(key)
                queue.append((post, met, after))
        first = False


def _decided(s: State, taken: Taken, tomb: str | None, first: bool) -> bool:
    """Return whether the module has a step, where the system leaves it open."""
    if taken.label == "lost" or taken.name == "Invoke":
        return first and taken.name == "Invoke"
    if taken.name == "StartCopy":
        i = taken.arguments[1]
        return tomb is not None and s.place(i) == tomb[:-1] and s.tree(s.now, s.place(i)) == i
    if taken.name == "Compressed":
        thread = taken.arguments[0]
        m = s.cm(thread)
        tombs = (b for b in SLOTS if s.what(m, b) == "link" and s.kind(s.cell(s.kid(m, b))) == "T")
        return all(s.took(thread, b) for b in tombs)
    return True


def _one_left(tree: INode, below: bool = False) -> bool:
    """Return whether a C-node below the root has one key and no child."""
    if tree.kind != "C":
        return False
    alone = below and sum(map(len, tree.parts)) == 2 and sum(len(part) == 2 for part in tree.parts) == 1
    return alone or any(_one_left(part[0], True) for part in tree.parts if len(part) == 1)
