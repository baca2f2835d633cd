"""Renumbered heaps get their names back: between two states only what the step wrote differs."""

import random
from pathlib import Path
from typing import Any

import pytest

from latchfree_model.tlc import Trace, TraceState, load_manifest, run_model
from latchfree_model.tlc.names import stable_names
from latchfree_model.tlc.render import diff
from latchfree_model.tlc.values import Function, Value

IDLE = {"pc": "idle", "gi": 0, "gm": 0, "n": 0, "path": (), "sg": 0}


class Simulation:
    """A trie of two levels that one writer changes while a reader holds on to nodes; ids are never reused."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.nodes: dict[int, dict[str, Any]] = {}
        self.writer: dict[str, Any] = dict(IDLE)
        self.reader: dict[str, Any] = dict(IDLE)
        self.value = 0
        self.leaves = [self.inode(self.cnode([("a", 0), ("b", 0)])), self.inode(self.cnode([("c", 0), ("d", 0)]))]
        self.root = self.inode(self.cnode([(self.leaves[0],), (self.leaves[1],)]))
        self.states = [self.snapshot("Initial predicate")]

    def new(self, **fields: Any) -> int:
        """Allocate a node."""
        self.nodes[len(self.nodes) + 1] = fields
        return len(self.nodes)

    def cnode(self, slots: list[tuple[Any, ...]], prev: int = 0) -> int:
        """Allocate a C-node."""
        return self.new(t="C", slot=tuple(slots), prev=prev)

    def inode(self, main: int) -> int:
        """Allocate an I-node."""
        return self.new(t="I", main=main, gen=7)

    def step(self) -> None:
        """Let the reader take hold of a node, or the writer take the next step of an update."""
        if self.rng.random() < 0.3:
            held = self.rng.choice([self.root, *self.leaves])
            self.reader.update(
                pc=self.rng.choice(["a", "b"]), gi=held, gm=self.nodes[held]["main"], path=(self.root, held)
            )
            self.states.append(self.snapshot("Read"))
        elif self.writer["n"] == 0:
            target = self.rng.choice(self.leaves)
            old = self.nodes[target]["main"]
            self.value += 1
            key = self.nodes[old]["slot"][0][0]
            new = self.cnode([(key, self.value), self.nodes[old]["slot"][1]], prev=old)
            self.writer.update(pc="cas", gi=target, n=new)
            self.states.append(self.snapshot("Prepare"))
        elif self.writer["pc"] == "cas":
            self.nodes[self.writer["gi"]]["main"] = self.writer["n"]
            self.writer.update(pc="commit")
            self.states.append(self.snapshot("Cas"))
        else:
            self.nodes[self.writer["n"]]["prev"] = 0
            self.writer = dict(IDLE)
            self.states.append(self.snapshot("Commit"))

    def reachable(self) -> list[int]:
        """Return the nodes that are not garbage, in random order."""
        found: set[int] = set()
        work = [self.root, *(r[f] for r in (self.writer, self.reader) for f in ("gi", "gm", "n")), *self.reader["path"]]
        while work:
            node = work.pop()
            if node and node not in found:
                found.add(node)
                fields = self.nodes[node]
                work += [fields.get("main", 0), fields.get("prev", 0)]
                work += [slot[0] for slot in fields.get("slot", ()) if len(slot) == 1]
        order = sorted(found)
        self.rng.shuffle(order)
        return order

    def snapshot(self, action: str) -> TraceState:
        """Return the present state with the nodes renumbered at random and the garbage collected."""
        order = self.reachable()
        number = {0: 0, **{node: position for position, node in enumerate(order, start=1)}}

        def rename(fields: dict[str, Any]) -> Function:
            renamed: dict[Value, Value] = {}
            for field, value in fields.items():
                if field in ("main", "prev", "gi", "gm", "n"):
                    renamed[field] = number[value]
                elif field == "path":
                    renamed[field] = tuple(number[each] for each in value)
                elif field == "slot":
                    renamed[field] = tuple((number[slot[0]],) if len(slot) == 1 else slot for slot in value)
                else:
                    renamed[field] = 1 if field == "gen" else value
            return Function(renamed)

        memory = Function({"root": number[self.root], "node": tuple(rename(self.nodes[node]) for node in order)})
        registers = Function({"w": rename(self.writer), "r": rename(self.reader)})
        index = len(getattr(self, "states", ())) + 1
        return TraceState(index, action, "", {"mem": memory, "L": registers})


@pytest.mark.parametrize("seed", range(60))
def test_only_what_the_step_wrote_differs(seed: int) -> None:
    simulation = Simulation(seed)
    for _ in range(25):
        simulation.step()
    named = stable_names(Trace(tuple(simulation.states)))
    for before, after in named.steps():
        lines = list(diff("", before.variables["mem"], after.variables["mem"]))
        written = [line for line in lines if not line.endswith((" gone", " new"))]
        allocated = [line for line in lines if line.endswith(" new")]
        expected = {"Read": (0, 0), "Prepare": (0, 1), "Cas": (1, 0), "Commit": (1, 0)}[after.action]
        assert (len(written), len(allocated)) == expected, (seed, after.index, after.action, lines)
        other = "r" if after.action != "Read" else "w"
        assert before.variables["L"][other] == after.variables["L"][other], (seed, after.index)  # type: ignore[index, call-overload]


def test_names_and_failed_addresses() -> None:
    memory = Function(
        {
            "root": 2,
            "node": (
                Function({"t": "C", "slot": ((), ("k", 1)), "prev": -3}),
                Function({"t": "I", "main": 1, "gen": 4}),
                Function({"t": "C", "slot": ((), ()), "prev": 0}),
            ),
        }
    )
    state = TraceState(1, "Initial predicate", "", {"mem": memory, "L": Function({"w": Function(IDLE)})})
    named = stable_names(Trace((state,))).states[0].variables["mem"]
    assert named == {
        "root": "I1",
        "C1": {"t": "C", "slot": ((), ("k", 1)), "prev": "Failed(C2)"},
        "I1": {"t": "I", "main": "C1", "gen": 1},
        "C2": {"t": "C", "slot": ((), ()), "prev": "null"},
    }


def test_a_trace_without_such_a_heap_is_left_alone() -> None:
    manifest = load_manifest(Path(__file__).parent / "data" / "manifest.toml")
    trace = run_model(manifest[1]).trace
    assert trace is not None
    assert stable_names(trace) is trace


def test_a_memory_that_is_a_sequence_keeps_its_addresses_and_loses_what_is_free() -> None:
    free, tomb, root = Function({"t": "-"}), Function({"t": "T"}), Function({"t": "I", "main": 3})
    before = TraceState(1, "Initial predicate", "", {"mem": (root, tomb, tomb), "L": Function({"p": Function(IDLE)})})
    after = TraceState(2, "Cas", "", {**before.variables, "mem": (root, free, tomb, tomb)})
    first, second = stable_names(Trace((before, after))).states
    assert first.variables["mem"] == Function({1: root, 2: tomb, 3: tomb})
    assert second.variables["mem"] == Function({1: root, 3: tomb, 4: tomb})
