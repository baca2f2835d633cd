"""Turn a bounded model of `Ctrie.tla` into scenarios of the explorer: keys, the initial trie, operations.

A model's key becomes the key of the explorer whose hash has the same slices, one bit for each level. Keys that agree in
all bits form an L-node below the last level. In the code that is level 11, so a model whose hashes are shorter has no
counterpart; if they have eleven slices, all of them zero, the trie of the code looks at no bit of its hashes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from latchfree_evidence.targets.placement import LAYOUTS
from latchfree_explore.scenario import MOST_OPERATIONS, Invocation, Scenario
from latchfree_model.graph import StateGraph
from latchfree_model.tlc import SpecModel
from latchfree_model.tlc.config import COMMENT
from latchfree_model.tlc.values import Function, Value, parse_value

_BY_DEPTH: Final = {1: "flat", 2: "pairs", 3: "tree"}
"""A layout for each depth of a model's hash: it has a key for every slice of bits."""
_LEVELS: Final = 11
"""How many levels of C-nodes the code has; below them are L-nodes."""
_LEVEL: Final = 6
_OPERATIONS: Final = {
    "lookup": "get", "put": "put", "put_if_absent": "put_if_absent", "put_if_present": "replace",
    "replace_if": "replace_if", "remove": "remove", "remove_if": "remove_if", "snapshot": "snapshot", "clear": "clear",
}  # fmt: skip
_VALUED: Final = ("put", "put_if_absent", "put_if_present", "remove_if")
_IF_EQUAL: Final = ("replace_if", "remove_if")
"""The specification answers the value that it has found, and the code whether it was the expected one."""


class NoCounterpart(ValueError):
    """The code cannot replay the model; the message says why."""


@dataclass(frozen=True)
class Program:
    """The parts of a model that the code needs.

    Attributes
    ----------
    layout : str
        The layout of keys (see `latchfree_evidence.targets.placement`).
    keys : mapping
        The number of each key of the model.
    before : tuple of Invocation
        The operations that make the initial trie.
    processes : tuple of str
        The processes, in the order of their threads.
    """

    layout: str
    keys: Mapping[str, int]
    before: tuple[Invocation, ...]
    processes: tuple[str, ...]

    @property
    def room(self) -> int:
        """How many operations a scenario has room for."""
        return MOST_OPERATIONS - len(self.before)

    def invocation(self, operation: Mapping[Any, Any]) -> Invocation:
        """Return an operation of the model as one of the explorer."""
        name = operation["op"]
        arguments: tuple[int, ...] = () if operation["key"] == "" else (self.keys[operation["key"]],)
        if name == "replace_if":
            arguments = (*arguments, *operation["val"])
        elif name in _VALUED:
            arguments = (*arguments, operation["val"])
        return Invocation(_OPERATIONS[name], arguments)

    def scenario(self, threads: Sequence[Sequence[Invocation]]) -> Scenario:
        """Return the scenario in which the processes run these operations."""
        return Scenario(tuple(map(tuple, threads)), self.before, (), self.layout)

    def answer(self, operation: Mapping[Any, Any], result: Any) -> Value:
        """Return what an operation answered in the terms of the model."""
        if operation["op"] == "snapshot":
            held = dict(result)
            return Function({key: held.get(number, 0) for key, number in self.keys.items()})
        if operation["op"] in _IF_EQUAL:
            expected: int = operation["val"] if operation["op"] == "remove_if" else operation["val"][0]
            return expected if result else 0
        return 0 if result is None else int(result)


def placed(model: SpecModel) -> tuple[str, dict[str, int]]:
    """Return the layout for the keys of a model, and the number of each key in it.

    Raises
    ------
    NoCounterpart
        If there is none.
    """
    hashes = _hash(model)
    depth = len(next(iter(hashes.values())))
    if depth == _LEVELS and not any(map(any, hashes.values())):
        return "list", {key: number for number, key in enumerate(hashes)}
    if len(set(hashes.values())) < len(hashes):
        raise NoCounterpart(
            f"{model.name}: keys that collide wholly are an L-node at level {depth} of the model, but at level "
            f"{_LEVELS} of the code, whose steps on the way down the model does not have"
        )
    if depth not in _BY_DEPTH:
        raise NoCounterpart(f"{model.name}: no layout of keys is {depth} levels deep; there are {sorted(_BY_DEPTH)}")
    layout = _BY_DEPTH[depth]
    slices = {
        tuple(h >> _LEVEL * level & (1 << _LEVEL) - 1 for level in range(depth)): number
        for number, h in reversed(list(enumerate(LAYOUTS[layout].hashes)))
    }
    return layout, {key: slices[bits] for key, bits in hashes.items()}


def program_of(layout: str, keys: Mapping[str, int], graph: StateGraph) -> Program:
    """Return the program of a model whose keys are placed like this and whose state graph is `graph`."""
    state = graph.state(graph.initial[0])
    processes = tuple(str(process) for process in graph.rows.processes)
    return Program(layout, keys, _initial(state["mem"], keys), processes)


def _initial(heap: Any, keys: Mapping[str, int]) -> tuple[Invocation, ...]:
    """Return operations that make a model's initial trie.

    Puts; and where generations differ a snapshot, after which a child of the root's generation gets its last key.
    """
    nodes = heap["node"]
    root = nodes[heap["root"] - 1]
    older = any(node["t"] == "I" and node["gen"] != root["gen"] for node in nodes)
    early: list[Any] = []
    late: list[Any] = []
    for node in nodes:
        if node["t"] == "I":
            main = nodes[node["main"] - 1]
            held = sorted(slot for slot in main.get("entries", main.get("slot", ())) if len(slot) == 2)
            fresh = older and node is not root and node["gen"] == root["gen"]
            early += held[:-1] if fresh else held
            late += held[-1:] if fresh else []

    def puts(entries: list[Any]) -> tuple[Invocation, ...]:
        return tuple(Invocation("put", (keys[key], value)) for key, value in entries)

    return (*puts(early), Invocation("snapshot"), *puts(late)) if older else puts(early)


def _hash(model: SpecModel) -> dict[str, tuple[int, ...]]:
    """Return the hash function of a model: the slices of each key."""
    config = COMMENT.sub(" ", (model.root / model.config).read_text(encoding="utf-8"))
    if re.search(r"\bForkMem\b", config):
        raise NoCounterpart(f"{model.name}: a writable snapshot is a trie of its own, and the replay follows one trie")
    named = re.search(r"\bHash\s*<-\s*(\w+)", config)
    if named is None:
        raise NoCounterpart(
            f"{model.name}: {model.config} substitutes no hash function, so it is no model of Ctrie.tla"
        )
    definition = re.compile(rf"^{named[1]}\s*==\s*(\[[^\]]*\])", re.MULTILINE)
    for file in sorted(model.root.rglob("*.tla")):
        found = definition.search(file.read_text(encoding="utf-8"))
        if found:
            value: Any = parse_value(found[1])
            return {str(key): tuple(bits) for key, bits in value.items()}
    raise NoCounterpart(f"{model.name}: no module defines {named[1]} as a record of slices")
