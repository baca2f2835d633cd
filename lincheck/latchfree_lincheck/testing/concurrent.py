"""A decorator: run generated concurrent programs against a class and judge what happened.

Hypothesis generates programs, a few calls for each thread, and makes a failing one small. Whether a program fails
depends on how its threads happen to interleave, and Hypothesis wants tests that do the same thing twice: so what came
of a program is remembered, and a program seen to fail fails from then on.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import Any, Final, Literal

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from latchfree_lincheck.criteria import judge
from latchfree_lincheck.failures import NotLinearizable, cut_text
from latchfree_lincheck.testing import explored, tasks
from latchfree_lincheck.testing import threads as real_threads
from latchfree_lincheck.testing.limits import Limits, of_threads, real, whole
from latchfree_lincheck.testing.loop import settled
from latchfree_lincheck.testing.menu import Menu, Method, Step, Strategy, model_of
from latchfree_lincheck.testing.programs import Program, program_text
from latchfree_model import Model

JUDGEMENT: Final = 10.0
"""Seconds for the judgement on one history of a few operations."""
EXPLORATION: Final = 10.0
"""Seconds for the exploration of one program."""
MORE_WHEN_FAILED: Final = 5
"""How many times as often a program is run while a failing one is made small."""


_MANY: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def linearizable(
    model: str | Model[Any] = "map",
    *,
    threads: int | tuple[int, int] = (2, 3),
    most_calls: int = 4,
    operations: Collection[str] | None = None,
    arguments: Mapping[str, tuple[Strategy, ...]] | None = None,
    methods: Mapping[str, Method] | None = None,
    criterion: str = "linearizability",
    repeats: int = 20,
    programs: int = 50,
    seconds: float = 20.0,
    shrink_seconds: float = 20.0,
    yielding: float = 0.1,
    seed: int | None = None,
    explore: Literal["free", "gil"] | None = None,
) -> Callable[[Callable[[], Any]], Callable[[], None]]:
    """Make a test of a class, or of a function that makes an object.

    If a method is declared with ``async def``, the programs are tasks on an event loop, else threads.

    Parameters
    ----------
    model : str or Model
        What the object is: a built-in model's name, or a model that lists its operations.
    threads : int or (int, int)
        How many threads, or tasks, a program has, or at least and at most.
    most_calls : int
        Calls of one thread, at most (about: some calls come in pairs).
    operations, arguments, methods
        Which operations to call, with what, and how; see `latchfree_lincheck.testing.menu.Menu`.
    criterion : str
        What to promise, one of `latchfree_lincheck.criteria.CRITERIA`.
    repeats : int
        How often a program is run, each time on a fresh object.
    programs : int
        How many programs are generated.
    seconds : float
        After that time no further program is generated.
    shrink_seconds : float
        How long a smaller program that fails is looked for.
    yielding : float
        How often a thread gives way, per bytecode of Python code, from 0 to 1. Tasks give way where they await; if
        this is 0, they go on in asyncio's order, else in an order that is drawn.
    seed : int, optional
        Other programs for other seeds, 0 or more; without a seed, every run of the test generates the same programs.
    explore : "free" or "gil", optional
        Run each program once in every interleaving that makes a difference, not `repeats` times on real threads:
        threads change at any access ("free") or only where this version of CPython polls ("gil"). It needs the extra
        `explore`; `repeats` and `yielding` play no part.

    Returns
    -------
    callable
        The decorator. The test raises `NotLinearizable` with the smallest failing program found and its history.

    Raises
    ------
    ValueError
        If the model lacks an operation that is named, or nothing would be tried.
    TypeError
        If what is decorated is a method, or takes arguments; if an argument is of the wrong kind.

    Examples
    --------
    >>> @linearizable("counter", threads=2)
    ... def test_my_counter():
    ...     return MyCounter()
    """
    explored.checked(explore, criterion)
    menu = Menu(model_of(model), operations, {} if arguments is None else arguments, {} if methods is None else methods)
    fewest, most = of_threads(threads)
    most_calls, programs = whole("most_calls", most_calls, 1), whole("programs", programs, 1)
    limits = Limits(
        whole("repeats", repeats, 1), real("seconds", seconds), real("shrink_seconds", shrink_seconds),
        real("yielding", yielding), 0 if seed is None else whole("seed", seed, 0), explore,
    )  # fmt: skip

    def decorate(make: Callable[[], Any]) -> Callable[[], None]:
        _require_no_arguments(make)
        trials = _Trials(make, menu, criterion, limits)
        thread = st.deferred(lambda: st.lists(trials.blocks(), min_size=1, max_size=most_calls).map(_joined))
        program = st.lists(thread, min_size=fewest, max_size=most).map(tuple)

        def test(program: Program) -> None:
            __tracebackhide__ = True
            trials.run(program)

        test.__name__ = test.__qualname__ = getattr(make, "__name__", "test")
        test.__doc__, test.__module__ = make.__doc__, make.__module__
        made = settings(
            max_examples=programs,
            derandomize=seed is None,
            database=None,
            deadline=None,
            print_blob=False,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )(given(program=program)(test))
        return made if seed is None else hypothesis.seed(seed)(made)

    return decorate


def _require_no_arguments(make: Callable[[], Any]) -> None:
    """Raise TypeError if a function that is decorated is a method, or takes arguments: nobody gives it any."""
    function = make.__func__ if isinstance(make, staticmethod) else make
    taken: list[str] = []
    if inspect.isfunction(function):
        given = inspect.signature(function, follow_wrapped=False).parameters.values()
        taken = [each.name for each in given if each.default is each.empty and each.kind not in _MANY]
    if isinstance(make, staticmethod) or taken[:1] in (["self"], ["cls"]):
        raise TypeError(
            f"@linearizable: {function.__qualname__} is a method; fix: a function of the module, or, in a class that "
            "is no unittest.TestCase, @pytest.mark.linearizable"
        )
    if taken:
        raise TypeError(
            f"@linearizable: {function.__qualname__} takes {', '.join(taken)}, which nobody gives; fix: a function "
            "without arguments, or @pytest.mark.linearizable, which gives fixtures"
        )


def _joined(blocks: Sequence[Sequence[Step]]) -> tuple[Step, ...]:
    return tuple(step for block in blocks for step in block)


class _Trials:
    """The outcome of each program that was run."""

    def __init__(self, make: Callable[[], Any], menu: Menu, criterion: str, limits: Limits) -> None:
        self._make = make
        self._menu = menu
        self._criterion = criterion
        self._limits = limits
        self._until: float | None = None
        self._failed = False
        self._cut = False
        self._outcomes: dict[Program, BaseException | None] = {}
        self._tracebacks: dict[Program, TracebackType | None] = {}

    @cached_property
    def _sample(self) -> tuple[Strategy, bool]:
        """What is called in a row on an object that was made for that, and whether its methods are coroutines."""
        target, looped = _made(self._make)
        blocks, looped = self._menu.blocks(target), looped or self._menu.asynchronous(target)
        close = getattr(target, "close", None)
        if not looped and close is not None:
            close()
        return blocks, looped

    def blocks(self) -> Strategy:
        """Return a strategy for a few steps that one process makes in a row."""
        return self._sample[0]

    def run(self, program: Program) -> None:
        """Run a program unless it was run before; raise what is wrong with it."""
        __tracebackhide__ = True
        if self._until is None:
            self._until = time.monotonic() + self._limits.seconds
        if program not in self._outcomes:
            if time.monotonic() > self._until:
                self._cut = self._failed
                return
            self._outcomes[program] = outcome = self._attempt(program)
            if outcome is not None and not self._failed:
                self._failed = True
                self._until = time.monotonic() + self._limits.shrink_seconds
        outcome = self._outcomes[program]
        if outcome is not None:
            self._say_if_cut(outcome)
            raise outcome.with_traceback(self._tracebacks.get(program))

    def _attempt(self, program: Program) -> BaseException | None:
        """Run a program; more often once something failed, lest a smaller one that fails seldom be taken to pass."""
        limits = self._limits
        if limits.explore is not None:
            return self._explored(program, limits.explore)
        repeats = limits.repeats * (MORE_WHEN_FAILED if self._failed else 1)
        rounds = tasks.rounds if self._sample[1] else real_threads.rounds
        try:
            histories = rounds(
                program, self._make, self._menu.call, repeats=repeats, yielding=limits.yielding, seed=limits.seed
            )
            for attempt, history in enumerate(histories):
                verdict = judge(history, self._menu.model, criterion=self._criterion, timeout=JUDGEMENT)
                if verdict.verdict != "ok":
                    head = f"the program {program_text(program)}\nwent wrong in round {attempt + 1}:"
                    return NotLinearizable(
                        history, verdict, self._menu.model, criterion=self._criterion, program=program, head=head
                    )
        except Exception as error:
            self._tracebacks[program] = error.__traceback__
            return error
        return None

    def _explored(self, program: Program, switches: str) -> BaseException | None:
        """Run a program in every interleaving that makes a difference."""
        try:
            return explored.failure(
                program, self._make, self._menu, switches=switches, tasks=self._sample[1], timeout=EXPLORATION
            )
        except Exception as error:
            self._tracebacks[program] = error.__traceback__
            return error

    def _say_if_cut(self, outcome: BaseException) -> None:
        if not self._cut:
            return
        if isinstance(outcome, NotLinearizable):
            outcome.cut_after = self._limits.shrink_seconds
        elif (text := cut_text(self._limits.shrink_seconds)) not in getattr(outcome, "__notes__", ()):
            outcome.add_note(text)


def _made(make: Callable[[], Any]) -> tuple[Any, bool]:
    """Return an object, and whether it can only be made while an event loop runs."""
    try:
        target = make()
    except RuntimeError as error:
        if "event loop" not in str(error):
            raise
    else:
        if not inspect.isawaitable(target):
            return target, False
        if inspect.iscoroutine(target):
            target.close()

    async def made() -> Any:
        return await settled(make())

    return tasks.in_a_thread(made, None), True
