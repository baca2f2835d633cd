"""Which schedules are run: every class of equivalent ones once, every one with few preemptions, or some at random."""

from __future__ import annotations

import random
from typing import Final, Protocol

from latchfree_explore.python.core.run import Chooser, Diverged, Run
from latchfree_explore.python.core.steps import Accesses, dependent
from latchfree_explore.python.search.races import Order, add_races

PCT_STEPS: Final = 60
"""Steps among which the changes of priority are drawn, until a longer schedule was seen."""


class Strategy(Chooser, Protocol):
    """Chooses in one run after the other."""

    def begin(self) -> None:
        """Prepare for the next run."""
        ...

    def advance(self, run: Run) -> bool:
        """Learn from a run; return whether there is another one to be made."""
        ...

    def restart(self) -> None:
        """Begin the search anew."""
        ...


class Node:
    """A decision: who could go on, who did in earlier runs, who is still to be tried."""

    __slots__ = ("able", "accesses", "choice", "done", "enabled", "last", "sleeping", "to_try", "ways")

    def __init__(self, enabled: list[int], last: int) -> None:
        self.enabled = enabled
        self.able = set(enabled)
        self.last = last
        self.choice = -1
        self.accesses: Accesses | None = None
        self.done: dict[int, tuple[Accesses, bool]] = {}
        self.to_try: set[int] = set()
        self.ways: dict[int, list[int]] = {}  # the threads that are to follow one that is to be tried
        self.sleeping: dict[int, tuple[Accesses, bool]] = {}


class Tree:
    """Depth-first search over the decisions; the path in hand is a list of nodes."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._fresh = 0  # the first node whose accesses are not known yet
        self.way: list[int] = []  # the threads to follow at new nodes, the last one first

    def begin(self) -> None:
        """Start at the root."""

    def restart(self) -> None:
        """Forget all runs."""
        self.nodes.clear()
        self.way.clear()
        self._fresh = 0

    def choose(self, run: Run, enabled: list[int], last: int) -> int | None:
        """Follow the path, then extend it."""
        at = len(run.steps)
        if at < len(self.nodes):
            node = self.nodes[at]
            _same(run, self.nodes, at, enabled)
            return node.choice
        node = Node(enabled, last)
        choice = self.first(run, node, enabled)
        if choice is None:
            return None
        node.choice = choice
        node.to_try.add(choice)
        self.nodes.append(node)
        return choice

    def first(self, run: Run, node: Node, enabled: list[int]) -> int | None:
        """Return the thread to go on at a new node: the one before, if it can."""
        return node.last if node.last in node.able else enabled[0]

    def advance(self, run: Run) -> bool:
        """Go back to the deepest node with something to try."""
        self.learn(run)
        for at in range(self._fresh, min(len(self.nodes), len(run.steps))):
            self.nodes[at].accesses = run.steps[at].accesses
        while self.nodes:
            at = len(self.nodes) - 1
            node = self.nodes[at]
            if at < len(run.steps):
                node.done[node.choice] = run.steps[at].accesses, run.steps[at].named
            else:
                node.done.setdefault(node.choice, ({}, False))
            choices = self.choices(node)
            if choices:
                node.choice = choices[0]
                self.way = node.ways.get(node.choice, [])[::-1]
                node.accesses = None
                self._fresh = at
                return True
            self.nodes.pop()
        return False

    def learn(self, run: Run) -> None:
        """Find what is to be tried."""

    def choices(self, node: Node) -> list[int]:
        """Return what is still to be tried at a node."""
        return sorted(node.able - node.done.keys())


class Reduced(Tree):
    """One schedule of each class of equivalent ones: source sets and sleep sets."""

    def __init__(self) -> None:
        super().__init__()
        self._order: Order | None = None

    def first(self, run: Run, node: Node, enabled: list[int]) -> int | None:
        """Return a thread that is not asleep; None if all are: an equivalent schedule was run."""
        parent = self.nodes[-1] if self.nodes else None
        if parent is not None and (parent.sleeping or parent.done):
            step = run.steps[-1]
            for thread, (accesses, named) in (parent.sleeping | parent.done).items():
                if thread != step.thread and not (named and step.named) and not dependent(accesses, step.accesses):
                    node.sleeping[thread] = accesses, named
        if run.early:  # no race tells of deadlines
            node.to_try.update(each for each in run.early if each not in node.sleeping)
        awake = [each for each in enabled if each not in node.sleeping] if node.sleeping else enabled
        if not awake:
            return None
        if self.way:
            wanted = self.way.pop()
            if wanted in awake:
                return wanted
            self.way.clear()
        usual = ([each for each in awake if each not in run.early] or awake) if run.early else awake
        return node.last if node.last in usual else usual[0]

    def learn(self, run: Run) -> None:
        """Have the races of the run reversed that no run before had."""
        add_races(order_of(run), self.nodes)

    def order(self, run: Run) -> Order:
        """Return what happens before what in a run that this strategy chose, right after the run."""
        if self._order is None:
            self._order = Order(run)
        else:
            self._order.follow(run, self._fresh)
        return self._order

    def choices(self, node: Node) -> list[int]:
        """Return what is to be tried and neither done nor asleep."""
        left = node.to_try - node.done.keys()
        return sorted(left - node.sleeping.keys()) if left else []


def order_of(run: Run) -> Order:
    """Return what happens before what in a run; found out once, as long as no other run begins."""
    if run.order is None:
        run.order = run.chooser.order(run) if isinstance(run.chooser, Reduced) else Order(run)
    found: Order = run.order
    return found


class Bounded(Tree):
    """Every schedule with at most so many preemptions."""

    def __init__(self, bound: int) -> None:
        super().__init__()
        self._bound = bound

    def choices(self, node: Node) -> list[int]:
        """Return what is within the bound."""
        used = sum(_preempts(each, each.choice) for each in self.nodes[:-1])
        return [each for each in sorted(node.able - node.done.keys()) if used + _preempts(node, each) <= self._bound]


def _preempts(node: Node, choice: int) -> bool:
    return node.last in node.able and choice != node.last


class Fixed:
    """One schedule, given; where it ends, whoever ran goes on."""

    def __init__(self, choices: list[int]) -> None:
        self._choices = choices

    def begin(self) -> None:
        """Do nothing."""

    def choose(self, run: Run, enabled: list[int], last: int) -> int | None:
        """Return the next choice."""
        at = len(run.steps)
        if at < len(self._choices):
            return self._choices[at]
        return last if last in enabled else enabled[0]

    def advance(self, run: Run) -> bool:
        """There is no other run."""
        return False

    def restart(self) -> None:
        """Do nothing."""


class Random:
    """Any thread at any step."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def begin(self) -> None:
        """Do nothing."""

    def choose(self, run: Run, enabled: list[int], last: int) -> int | None:
        """Draw."""
        return self._random.choice(enabled)

    def advance(self, run: Run) -> bool:
        """There is always another run."""
        return True

    def restart(self) -> None:
        """Do nothing: what was drawn stays drawn."""


class Pct:
    """Random priorities, changed at a few random steps.

    References
    ----------
    Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic Guarantees, ASPLOS 2010.
    """

    def __init__(self, seed: int, depth: int = 3) -> None:
        self._random = random.Random(seed)
        self._depth = depth
        self._longest = PCT_STEPS
        self._priorities: dict[int, float] = {}
        self._changes: set[int] = set()

    def begin(self) -> None:
        """Draw priorities and changes."""
        self._priorities = {}
        self._changes = {self._random.randrange(self._longest) for _ in range(self._depth - 1)}

    def choose(self, run: Run, enabled: list[int], last: int) -> int | None:
        """Return the thread of the highest priority."""
        for each in enabled:
            if each not in self._priorities:
                self._priorities[each] = 1 + self._random.random()
        best = max(enabled, key=self._priorities.__getitem__)
        if len(run.steps) in self._changes:
            self._priorities[best] = -float(len(run.steps))
            best = max(enabled, key=self._priorities.__getitem__)
        return best

    def advance(self, run: Run) -> bool:
        """There is always another run."""
        self._longest = max(len(run.steps), 1) if self._longest == PCT_STEPS else max(self._longest, len(run.steps))
        return True

    def restart(self) -> None:
        """Do nothing: what was drawn stays drawn."""


def _same(run: Run, nodes: list[Node], at: int, enabled: list[int]) -> None:
    """Raise `Diverged` unless the run is what it was when the path was made."""
    node = nodes[at]
    if node.enabled != enabled:
        raise Diverged(
            f"step {at}: threads {enabled} can go on, in an earlier run with the same choices {sorted(node.able)}"
        )
    if at and nodes[at - 1].accesses is not None and nodes[at - 1].accesses != run.steps[at - 1].accesses:
        step = run.steps[at - 1]
        raise Diverged(
            f"step {at - 1} of thread {step.thread}, line {step.line}: touched {_words(step.accesses)}, in an earlier "
            f"run with the same choices {_words(nodes[at - 1].accesses or {})}"
        )


def _words(accesses: Accesses) -> str:
    return ", ".join(f"{kind} {part!r} of object {owner}" for (owner, part), kind in accesses.items()) or "nothing"
