"""The states of a program of plain Python: each is a beginning of a schedule, run anew.

Two beginnings are one state if they differ only in the order of steps that commute, and the same orders of the calls
explain what was returned. Then every thread has seen the same, so all that can follow is the same.

A move is a step of the explorer: one access in the model "free", what the interpreter does not divide in "gil".
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Final

from latchfree_explore.python.core.run import Run
from latchfree_explore.python.core.steps import Step
from latchfree_explore.python.objects import ObjectCalls
from latchfree_explore.python.program import Machine
from latchfree_explore.python.search.races import Order
from latchfree_model import Call, SequentialModel
from latchfree_teach.play.painters.picture import Box
from latchfree_teach.play.plain.pictures import Painter
from latchfree_teach.play.tracker import Configurations, Steps, Tracker

NOTHING: Final[Configurations] = frozenset()


class Stale(Exception):
    """A run wrote what the runs before took to be constant: the states are to be found again."""


@dataclass(eq=False)
class State:
    """A state, and the moves that lead on from it.

    Attributes
    ----------
    schedule : list of int
        The thread of each step that leads there.
    names : list of str
        What each thread is called.
    doing : dict
        Of each thread that has not ended: its call, and whether the call has begun.
    waits : dict
        Of each thread that waits: what for.
    status : str
        "" while threads go on, "done", or what is wrong.
    """

    schedule: list[int]
    key: Hashable
    names: list[str]
    boxes: list[Box]
    doing: dict[int, tuple[int, bool]]
    waits: dict[int, str]
    results: dict[int, Hashable]
    held: Configurations
    status: str
    enabled: tuple[int, ...]
    moves: dict[int, tuple[Move, State]] = field(default_factory=dict)

    @property
    def is_bad(self) -> bool:
        """Whether something is wrong."""
        return self.status not in ("", "done")


@dataclass
class Move:
    """A step: what it did in words, where, and which calls returned, with the explanations left."""

    words: str
    site: tuple[str, int]
    begins: bool
    returned: list[tuple[int, Steps]]


class _Beginning:
    """Runs given choices, and looks at the run as it stands then."""

    def __init__(self, choices: list[int], painter: Painter) -> None:
        self._choices = choices
        self._painter = painter
        self.enabled: tuple[int, ...] = ()
        self.boxes: list[Box] = []
        self.waits: dict[int, str] = {}
        self.ended: set[int] = set()

    def choose(self, run: Run, enabled: list[int], last: int) -> int | None:
        """Return the next choice; the last step is told in words."""
        at = len(run.steps)
        run.telling = at + 1 == len(self._choices)
        if at < len(self._choices):
            return self._choices[at]
        self.enabled = tuple(enabled)
        return None

    def look(self, run: Run) -> None:
        """Draw what is shared, and ask who waits."""
        self.boxes = self._painter.paint(run)
        for task in run.tasks:
            if task.done:
                self.ended.add(task.number)
            elif task.blocker is not None and task.number not in self.enabled:
                self.waits[task.number] = task.blocker.waited_for()


class Walker:
    """Walks through the states of one program.

    Parameters
    ----------
    machine : Machine
        Whose functions are rewritten meanwhile.
    model : SequentialModel, optional
        Judges the calls, if the program consists of calls on an object.
    """

    def __init__(self, machine: Machine, model: SequentialModel[Any] | None = None) -> None:
        self.machine = machine
        program = machine.program
        self.program = program if isinstance(program, ObjectCalls) else None
        self.calls: list[Call] = []
        self.threads: list[list[int]] = []
        self.before = self.after = 0
        self.tracker: Tracker | None = None
        self.names: list[str] = []
        self._painter = Painter()
        if self.program is not None:
            self._number(self.program)
            assert model is not None
            self.tracker = Tracker(model, self.calls, "the object")

    def _number(self, program: ObjectCalls) -> None:
        """Give the calls numbers: those before, those of each thread, those after."""
        before, threads, after = program.before, program.script, program.after
        self.calls += [Call(f, arguments, None) for f, arguments in before]
        self.before = len(self.calls)
        for thread in threads:
            self.threads.append(list(range(len(self.calls), len(self.calls) + len(thread))))
            self.calls += [Call(f, arguments, None) for f, arguments in thread]
        self.after = len(self.calls)
        self.calls += [Call(f, arguments, None) for f, arguments in after]

    def root(self) -> State:
        """Return the state before any step."""
        return self._state([], None)[1]

    def step(self, state: State, thread: int) -> tuple[Move, State]:
        """Let a thread take its next step."""
        move, after = self._state([*state.schedule, thread], state)
        assert move is not None
        return move, after

    def _state(self, schedule: list[int], parent: State | None) -> tuple[Move | None, State]:
        beginning = _Beginning(schedule, self._painter)
        run, wrong = self.machine.execute(beginning, on_over=beginning.look)
        if self.machine.constants.refuted():
            raise Stale
        if self.program is not None and self.program.inside:
            raise ValueError("the object starts threads when it is made; fix: play_threads, with functions")
        self.names = max(self.names, [task.name for task in run.tasks], key=len)
        status = "" if beginning.enabled else "done"
        if wrong is not None and (self.tracker is None or wrong.kind != "not linearizable"):
            status = f"{wrong.kind}: {wrong.message}"
        for task in run.tasks:
            if task.error is not None:
                status = f"{task.name} raised {type(task.error).__name__}: {task.error}".rstrip(": ")
        begun, results, doing = self._calls(run, beginning.ended)
        held, returned = self._explained(parent, begun, results, status == "done")
        if self.tracker is not None and not held:
            status = "not linearizable"
        under_way = frozenset(begun - results.keys())
        state = State(
            schedule, (_canonical(run), held, under_way), [task.name for task in run.tasks], beginning.boxes, doing,
            beginning.waits, results, held, status, () if status else beginning.enabled,
        )  # fmt: skip
        if parent is None:
            return None, state
        step = run.steps[-1]
        began = state.doing.get(schedule[-1], (-1, False))[1] and not parent.doing[schedule[-1]][1]
        return Move(_words(step), _site(step), bool(began), returned), state

    def _calls(self, run: Run, ended: set[int]) -> tuple[set[int], dict[int, Hashable], dict[int, tuple[int, bool]]]:
        """Return the calls that have begun, what those that have returned gave, and what each thread is doing."""
        first = len(self.calls)
        if self.program is None:
            return set(), {}, {task.number: (task.number, True) for task in run.tasks if task.number not in ended}
        begun, results, doing = set[int](), dict[int, Hashable](), dict[int, tuple[int, bool]]()
        made = [0] * len(self.threads)
        for number, (*_, result) in enumerate(self.program.early):
            begun.add(number)
            results[number] = result
        for call in self.program.calls:
            number = self.threads[call.process][made[call.process]]
            made[call.process] += 1
            if call.first >= 0:
                begun.add(number)
            if call.ended:
                results[number] = call.result
        for process, numbers in enumerate(self.threads):
            left = [number for number in numbers if number not in results]
            if left and process not in ended:
                doing[process] = left[0], left[0] in begun
        for number, (*_, result) in enumerate(self.program.late, self.after):
            begun.add(number)
            results[number] = result
        others = [task.number for task in run.tasks if task.number >= len(self.threads) and task.number not in ended]
        doing |= {number: (first + number - len(self.threads), True) for number in others}
        return begun, results, doing

    def _explained(
        self, parent: State | None, begun: set[int], results: dict[int, Hashable], over: bool
    ) -> tuple[Configurations, list[tuple[int, Steps]]]:
        """Return the explanations left, and how they come from those before: a call after the other returns."""
        if self.tracker is None:
            return NOTHING, []
        held = self.tracker.first if parent is None else parent.held
        new = [number for number in results if parent is None or number not in parent.results]
        returned = []
        for number in sorted(new):
            alone = number < self.before or number >= self.after
            pending = {number} if alone else {each for each in begun if each not in results or each == number}
            steps = self.tracker.returns(held, frozenset(pending), number, results[number])
            held = frozenset(steps)
            returned.append((number, steps))
        return held, returned


def _canonical(run: Run) -> Hashable:
    """Return what all equivalent beginnings of schedules have in common: what happens before each step."""
    clocks = Order(run).clocks
    place: list[int] = []
    many = [0] * len(run.tasks)
    for step in run.steps:
        many[step.thread] += 1
        place.append(many[step.thread])
    steps: dict[int, list[tuple[tuple[int, int], ...]]] = {}
    for step, clock in zip(run.steps, clocks, strict=True):
        before = tuple((thread, place[last]) for thread, last in enumerate(clock) if last >= 0)
        steps.setdefault(step.thread, []).append(before)
    return tuple(sorted((thread, tuple(each)) for thread, each in steps.items()))


def _words(step: Step) -> str:
    return "; ".join(words for _, _, words in step.texts if words) or "goes on"


def _site(step: Step) -> tuple[str, int]:
    return next(((file, line) for file, line, _ in step.texts if file), ("", 0))
