"""Run compiled code along every step of a model's state graph, and compare memory and answers after each step.

A step of the graph is an action of one process, such as ``GcasCas``. The replay

1. looks at the access that the thread is about to make: its label must name that action;
2. lets the thread make the access, and go on to its next labelled access; accesses in between (epochs, registry, free
   lists) have no counterpart in the specification;
3. compares the memory, and the next access of every thread, with the state at the end of the step (see `comparison`);
4. where the state says of each node if it is dead, compares that with what the code has retired (see `fates`);
5. compares the answer of an operation that returns with the one that the tracker of linearizations allows.

In five places code and specification do not go in step, and need not:

- ``GcasReadMain`` reads ``main`` and a null ``prev`` at once; the code reads twice, and nobody steps in between.
- A cleaner in the code reads a tomb once more, which is final (`_reread_tomb`).
- After a removal that leaves no tomb the specification reads ``main`` once more; the code has returned.
- Before it undoes a failed update, the specification reads the root; the code does not.
- Where there is nothing left to clean, the specification installs an equal copy; the code does not. That step of the
  specification is one the code never takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from latchfree.arena.kernels import node as arena_node
from latchfree.ctrie.kernels import shape
from latchfree_evidence.refinement.bridge.comparison import Comparison, Difference
from latchfree_evidence.refinement.bridge.coverage import Coverage, Divergence
from latchfree_evidence.refinement.bridge.fates import Fates, has_fates
from latchfree_evidence.refinement.bridge.programs import Program
from latchfree_evidence.refinement.bridge.stepper import Halted, Stepper
from latchfree_evidence.refinement.bridge.tours import Edge, Tours
from latchfree_evidence.refinement.labels import ctrie_actions
from latchfree_explore.scenario import Invocation, Scenario
from latchfree_explore.target import Target
from latchfree_model.graph import StateGraph
from latchfree_model.tlc.values import Function

_STEPS: Final = 600
_SPARE: Final = 400
"""Steps of a tour, about; and accesses that must be left for one step of it."""

_KEPT: Final = 8
"""How many machines are kept."""

NOTHING_TO_CLEAN: Final = "nothing is left to clean: the code installs no equal copy"
NO_LOOK: Final = "a failed update is undone without a look at the root: the code aborts no descriptor there"
READS_AGAIN: Final = "a removal that left no tomb: the code has returned, and helps nobody any more"
BEHIND: Final = "can be reached only through steps that the code does not take"


class Untaken(Exception):
    """The code does not take a step of the specification, and need not take it."""


def replay_edges(
    target: Target,
    program: Program,
    graph: StateGraph,
    *,
    frees: bool = True,
    on_progress: Callable[[Coverage], bool] | None = None,
) -> Coverage:
    """Replay every step of a graph.

    Parameters
    ----------
    target : Target
        The structure whose code runs.
    program : Program
        The keys, the initial trie and the processes of the model.
    graph : StateGraph
        The model's state graph.
    frees : bool, optional
        Whether the code retires nodes, as it should; else the fates of nodes are not compared.
    on_progress : callable, optional
        Called after every run with the coverage so far; the replay ends if it returns False.

    Returns
    -------
    Coverage
    """
    tours, steppers = Tours(graph), _Steppers(target)
    coverage = Coverage(len(graph), tours.edges)
    while tour := tours.next_tour(program.room, _STEPS):
        run = _Run(steppers, program, graph, tour, frees=frees)
        try:
            for edge in tour:
                if run.stepper.left < _SPARE:
                    break
                run.take(edge)
                tours.taken[edge.number] = 1
                coverage.steps += 1
        except Untaken as reason:
            tours.barred[edge.number] = 1
            coverage.untaken[str(reason)] += 1
        except (Difference, Halted) as error:
            coverage.divergence = Divergence(str(error), tuple(tour[: tour.index(edge) + 1]))
        coverage.runs += 1
        coverage.accesses += run.stepper.steps
        coverage.operations += run.begun
        coverage.deaths += run.deaths
        coverage.freed += run.freed
        coverage.replayed = tours.count
        run.stepper.end()
        if coverage.divergence or (on_progress is not None and not on_progress(coverage)):
            return coverage
    behind = coverage.edges - coverage.replayed - coverage.untaken.total()
    if behind:
        coverage.untaken[BEHIND] = behind
    coverage.complete = True
    return coverage


class _Steppers:
    """The steppers of the last scenarios: where operations are few, tours differ only in the order of their steps."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._made: dict[Scenario, Stepper] = {}

    def of(self, scenario: Scenario) -> Stepper:
        """Return a stepper for a scenario, in the state before its first step."""
        found = self._made.pop(scenario, None) or Stepper(self.target, scenario)
        if len(self._made) == _KEPT:
            del self._made[next(iter(self._made))]
        self._made[scenario] = found
        return found


class _Run:
    """The code on its way along one tour."""

    def __init__(
        self, steppers: _Steppers, program: Program, graph: StateGraph, tour: list[Edge], *, frees: bool
    ) -> None:
        self._target, self._program, self._graph = steppers.target, program, graph
        self._operations = _operations(program, graph, tour)
        # A thread that has nothing to do still needs an operation, which it does not begin.
        threads = [made or [(Invocation("snapshot"), {})] for made in self._operations]
        scenario = program.scenario([[invocation for invocation, _ in made] for made in threads])
        self.stepper = steppers.of(scenario)
        self._first = [len(program.before) + sum(map(len, threads[:k])) for k in range(len(threads))]
        self._next = [0] * len(threads)
        self.begun = 0
        self.stepper.begin()
        heap: Any = graph.state(graph.initial[0])["mem"]
        self._fates: Fates | None = None
        if frees and has_fates(heap):
            self._fates = Fates(self.stepper.words, self.stepper.root, program.processes)
        self._compare(graph.initial[0], 0)

    @property
    def deaths(self) -> int:
        """How many nodes the code has retired."""
        return self._fates.deaths if self._fates is not None else 0

    @property
    def freed(self) -> int:
        """How many nodes the code has freed."""
        return self._fates.freed if self._fates is not None else 0

    def take(self, edge: Edge) -> None:
        """Take one step and compare."""
        thread, step = edge.thread, edge.step
        before, after = self._graph.state(step.source), self._graph.state(step.target)
        if thread >= 0:
            process = self._program.processes[thread]
            self._advance(thread, step.action, _regs(before, process), _regs(after, process))
            if _regs(before, process)["pc"] != "idle" and _regs(after, process)["pc"] == "idle":
                self._check_answer(thread, process, before, after)
        self._compare(step.target, thread)

    def _advance(self, thread: int, action: str, old: Mapping[Any, Any], new: Mapping[Any, Any]) -> None:
        stepper = self.stepper
        if old["ret"] == "up" and action == "GcasReadMain" and stepper.between(thread):
            if new["pc"] != "idle":
                raise Untaken(READS_AGAIN)
            return
        if action == "CompleteReadRoot" and old["gp"] < 0:
            if new["pc"] != "CompleteRollback":
                raise Untaken(NO_LOOK)
            return
        if action == "Invoke":
            if not stepper.between(thread):
                raise Difference("the operation has not returned")
            self.begun += 1
            self._next[thread] += 1
            stepper.step(thread)
            self._housekeeping(thread)
            action = "RdcssRead"
        self._make(thread, action)
        if action == "GcasReadMain" and new["pc"] != "GcasReadPrev":
            self._make(thread, "GcasReadPrev")
        self._housekeeping(thread)
        if new["pc"] == "GcasReadMain" and new["ret"] == "cleanParent":
            self._reread_tomb(thread)
        if new["pc"] == "GcasCas" and new["gret"] == "clean" and "RdcssRead" in self._actions(thread):
            raise Untaken(NOTHING_TO_CLEAN)

    def _actions(self, thread: int) -> frozenset[str]:
        pending = self.stepper.pending(thread)
        if pending is None or self.stepper.between(thread):
            return frozenset()
        return ctrie_actions(pending.site)

    def _make(self, thread: int, action: str) -> None:
        """Make the access that an action is."""
        if action not in self._actions(thread):
            raise Difference(f"the specification takes {action}, but the code {self._about_to(thread)}")
        self.stepper.step(thread)

    def _about_to(self, thread: int) -> str:
        pending = self.stepper.pending(thread)
        if pending is None or self.stepper.between(thread):
            return "has returned"
        actions = " or ".join(sorted(ctrie_actions(pending.site))) or "an access without a label"
        return f"is about to make {actions} ({pending.kind} at {pending.site})"

    def _housekeeping(self, thread: int) -> None:
        """Go on to the next access that is a step of the specification, or to the end of the operation."""
        while not self.stepper.between(thread) and not self._actions(thread):
            if self._fates is not None:
                self._fates.observe(thread)
            self.stepper.step(thread)

    def _reread_tomb(self, thread: int) -> None:
        """Let a cleaner read the main of the I-node below once more: a committed tomb, which is final."""
        pending, words = self.stepper.pending(thread), self.stepper.words
        if pending is not None and "GcasReadMain" in self._actions(thread):
            main = words[pending.at]
            if words[main] >> int(arena_node.KIND_SHIFT) == int(shape.T_NODE) and not words[main + int(shape.PREV)]:
                self._make(thread, "GcasReadMain")
                self._make(thread, "GcasReadPrev")
                self._housekeeping(thread)

    def _compare(self, number: int, thread: int) -> None:
        """Compare the memory, and what every thread is about to do, with the state after a step of `thread`."""
        stepper = self.stepper
        state: Any = self._graph.state(number)
        comparison = Comparison(state["mem"], stepper.words, stepper.root, self._program.keys)
        for each, process in enumerate(self._program.processes):
            regs = state["L"][process]
            pc = _code_at(regs)
            pending = stepper.pending(each)
            if pending is None or stepper.between(each):
                if pc != "idle" and regs["ret"] != "up":
                    raise Difference(f"{process}: the code has returned, but the specification is at {pc}")
            elif pc not in self._actions(each):
                raise Difference(f"{process}: the specification is at {pc}, but the code {self._about_to(each)}")
            else:
                comparison.same_access(pc, regs, pending.at, pending.expected, pending.operand)
        if self._fates is not None:
            self._fates.carry(comparison, state["L"])
        comparison.check()
        if self._fates is not None:
            self._fates.compare(thread, state, comparison)

    def _check_answer(self, thread: int, process: str, before: Any, after: Any) -> None:
        """Compare the answer of the operation that has returned: the tracker keeps who gave the same."""
        number = self._next[thread] - 1
        invocation, operation = self._operations[thread][number]
        word = self.stepper.result(self._first[thread] + number)
        answer = self._program.answer(operation, self._target.operation(invocation.f).result(word))
        kept = frozenset(_forget(c, process) for c in before["M"] if c["r"][process] == (answer,))
        if kept != after["M"]:
            raise Difference(
                f"{process}: {invocation} answered {answer!r}, which is not what the specification answers"
            )


def _regs(state: Any, process: str) -> Mapping[Any, Any]:
    regs: Mapping[Any, Any] = state["L"][process]
    return regs


def _code_at(regs: Mapping[Any, Any]) -> str:
    """Return the action that the code is about to take when the specification has these registers."""
    undoes = regs["pc"] == "CompleteReadRoot" and regs["gp"] < 0
    return "CompleteRollback" if undoes else str(regs["pc"])


def _forget(configuration: Any, process: str) -> Any:
    """Return a configuration of the tracker without the answer of a process."""
    return Function({"s": configuration["s"], "r": Function({**configuration["r"], process: ()})})


def _operations(program: Program, graph: StateGraph, tour: list[Edge]) -> list[list[tuple[Invocation, Any]]]:
    """Return the operations that each thread begins on a tour, as the explorer's and as the model's."""
    made: list[list[tuple[Invocation, Any]]] = [[] for _ in program.processes]
    for edge in tour:
        if edge.step.action == "Invoke":
            operation = _regs(graph.state(edge.step.target), program.processes[edge.thread])["op"]
            made[edge.thread].append((program.invocation(operation), operation))
    return made
