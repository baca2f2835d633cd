"""The trie and its model, both ways: how TLC changes the tree of settled main nodes, a thread of the system does alone.

Example: a thread of TLC finds the root of the generation of its update's I-node. In the tree before, a thread of the
system begins one of the operations at work, walks down, puts that key, and leaves the tree with the new main node.

A pending main node counts from that comparison on, *if* it commits later. Whether it will is not known yet: so until
it is decided a state of TLC stands for two trees, with it and without. Rule (a backward simulation): each tree of the
state after an edge is a tree of the state before, or one step of the system leads to it from there. An initial state
stands for one tree. So each finite run of TLC, read from its end, is a run of the system. Late commits need no more:
when the root has moved and then the main node commits, the tree with it was there all the time.

The main nodes of the tree afterwards are what the thread may install, and on the way to new levels main nodes with one
key. The other way is in `latchfree_evidence.inductive.bonds.trie_reverse`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from latchfree_evidence.inductive.bonds.trie_reverse import reverse
from latchfree_evidence.inductive.bonds.trie_trees import (
    THREAD,
    Call,
    INode,
    found,
    key_of,
    nodes_of,
    single,
    tree_of,
)
from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.system import System
from latchfree_evidence.inductive.systems.trie.finite import Main, Slot, instance
from latchfree_evidence.inductive.systems.trie.words import SWAPS, UPDATES
from latchfree_evidence.inductive.tie import Projection, Tie, Values
from latchfree_model.graph.state_graph import StateGraph

MOST: Final = 2_000
"""States of one thread that is alone."""


def futures(values: Values) -> dict[INode, None]:
    """Return the trees that a state of TLC may stand for: what has been compared may count, or be undone yet."""
    compared = sorted(_compared(values))
    subsets = itertools.chain.from_iterable(itertools.combinations(compared, size) for size in range(len(compared) + 1))
    return dict.fromkeys(tree_of(values, frozenset(some)) for some in subsets)


def _compared(values: Values) -> set[int]:
    """Return the pending main nodes of which a thread has found the root to be of the generation of their I-node."""
    nodes = values["mem"]["node"]
    found = set()
    for own in values["L"].values():
        same = own["pc"] == "CompleteCommit"
        if own["pc"] in ("CompleteAbortStatus", "CompleteAbortRoot"):
            d = nodes[own["ad"] - 1]
            same = d["status"] == "ABORT" and nodes[d["ov"] - 1]["gen"] == nodes[own["gi"] - 1]["gen"]
        if same and nodes[own["gm"] - 1]["prev"] > 0:
            found.add(own["gm"])
    return found


def alone(system: System, before: INode, after: INode, calls: frozenset[Call], hashes: Mapping[str, str]) -> Instance:
    """Return one thread in the tree before, that may do these calls and install what the tree afterwards has."""
    old = {(place, node.gen): node for place, node in nodes_of(before)}
    swaps = any(op in SWAPS for op, _, _ in calls)
    behind = before.gen + swaps - after.gen  # an older generation may have left the tree with this step
    new = {(place, node.gen + behind): node for place, node in nodes_of(after)}
    names = {key: i for i, key in enumerate(dict.fromkeys([*old, *new]), 1)}

    def contents(place: str, node: INode, by: int) -> Main:
        if node.kind == "L":
            return dict(node.parts)
        if node.kind == "T":
            ((k, v),) = node.parts
            return (k, v)

        def slot(digit: int, part: tuple[Any, ...]) -> Slot:
            return (names[f"{place}{digit}", part[0].gen + by],) if len(part) == 1 else part

        return (slot(0, node.parts[0]), slot(1, node.parts[1]))

    mains = [contents(place, node, 0) for (place, _), node in old.items()]
    cells = {names[key]: m for m, key in enumerate(old, 1)}
    mains += [contents(place, node, behind) for (place, _), node in new.items()]
    held = {part for node in old.values() for part in node.parts if len(part) == 2}
    for place in (place for place, gen in new if (place, gen) not in old):
        mains += [single(k, v, hashes[k][len(place) : len(place) + 1]) for k, v in held]
    cleaners = [(THREAD, i) for i in cells]
    return instance(system, hashes, {THREAD: sorted(calls)}, list(names), cells, mains, cleaners)


def steps_to(instance: Instance, after: INode) -> str:
    """Return the step by which a thread that is alone leaves a tree, "" if none does."""
    queue = [instance.state(next(instance.system.starts(instance.domains)))]
    seen = {key_of(instance, queue[0])}
    for s in queue:
        for taken in instance.steps(s):
            post = taken.case.post
            if taken.case.label != "lost" and found(post, instance) == after:
                return taken.step
            if (name := key_of(instance, post)) not in seen and len(seen) < MOST:
                seen.add(name)
                queue.append(post)
    return ""


def project(hashes: Mapping[str, str], model: str, system: System, graph: StateGraph) -> Tie:
    """Compare the graph of TLC with what a thread of the system does alone, both ways."""
    values = [graph.state(number) for number in range(len(graph))]
    trees = [futures(each) for each in values]
    known: dict[tuple[INode, INode, frozenset[Call], frozenset[Call]], str] = {}
    taken, no_step, broken = Counter[str](), Counter[str](), Counter[str]()
    broken.update({"Init": 1} if any(len(trees[number]) > 1 for number in graph.initial) else {})

    def step(before: INode, after: INode, calls: frozenset[Call], swaps: frozenset[Call]) -> str:
        key = (before, after, calls, swaps)
        if key not in known:
            tries = (
                steps_to(alone(system, before, after, some, hashes), after) for some in dict.fromkeys((calls, swaps))
            )
            known[key] = next(filter(None, tries), "")
        return known[key]

    edges = 0
    for number, sources in enumerate(trees):
        calls = frozenset(_calls(values[number], UPDATES))
        swaps = frozenset(_calls(values[number], SWAPS))
        for edge in graph.steps_from(number):
            for after in trees[edge.target]:
                if after in sources:
                    continue
                edges += 1
                if name := next(filter(None, (step(before, after, calls, swaps) for before in sources)), ""):
                    taken[name] += 1
                else:
                    no_step[edge.action] += 1
    steps, no_edge, none = reverse(system, hashes, graph, values, [next(iter(each)) for each in trees])
    no_step.update(none)
    for tree in dict.fromkeys(next(iter(each)) for each in trees):
        if tree.gen == 1:
            small = alone(system, tree, tree, frozenset(), hashes)
            if name := small.broken(small.state(next(system.starts(small.domains)))):
                broken[name] += 1
    return Tie(model, len(graph), edges, taken.total() + steps, taken, no_step, no_edge, broken)


def _calls(values: Values, among: tuple[str, ...]) -> Iterator[Call]:
    """Yield those operations of some that are at work."""
    for own in values["L"].values():
        op = own["op"]
        if op["op"] in among:
            yield op["op"], op["key"] or "a", op["val"] or 1


HASHES: Final = {"a": "000", "b": "001", "c": "010"}
"""``HashDeep`` of Scenarios.tla."""
TRIE: Final = Projection("contract_and_refill", partial(project, HASHES, "contract_and_refill"))
