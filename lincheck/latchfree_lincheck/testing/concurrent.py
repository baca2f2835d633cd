"""A decorator: run generated concurrent programs against a class and judge what happened.

Hypothesis generates programs, a few calls for each thread, and makes a failing one small. Whether a program fails
depends on how its threads happen to interleave, and Hypothesis wants tests that do the same thing twice: so what came
of a program is remembered, and a program seen to fail fails from then on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from latchfree_lincheck.checking.verdict import Verdict
from latchfree_lincheck.criteria import judge
from latchfree_lincheck.history import History
from latchfree_lincheck.show.lanes import lanes
from latchfree_lincheck.testing.menu import Menu, Method, Step, Strategy, model_of
from latchfree_lincheck.testing.threads import program_text, rounds
from latchfree_model import Model

Program = tuple[tuple[Step, ...], ...]

JUDGEMENT: Final = 10.0
"""Seconds for the judgement on one history of a few operations."""


MORE_WHEN_FAILED: Final = 5
"""How many times as often a program is run while a failing one is made small."""


class NotLinearizable(AssertionError):
    """A recorded history is a violation, or could not be judged.

    Attributes
    ----------
    program : tuple of tuple of Step
        What each thread called.
    history : History
        What happened.
    verdict : Verdict
        The judgement on it.
    """

    def __init__(self, program: Program, history: History, verdict: Verdict, attempt: int) -> None:
        self.program, self.history, self.verdict = program, history, verdict
        marked = () if verdict.failing is None else (verdict.failing,)
        super().__init__(
            f"{verdict.verdict}: {verdict.reason}\n"
            f"the program {program_text(program)}\n"
            f"went wrong in round {attempt + 1}:\n\n{lanes(history, marked)}\n\n{verdict.message}"
        )


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
    yielding: float = 0.1,
    derandomize: bool = True,
) -> Callable[[Callable[[], Any]], Callable[[], None]]:
    """Make a test of a class, or of a function that makes an object.

    Parameters
    ----------
    model : str or Model
        What the object is: a built-in model's name, or a model that lists its operations.
    threads : int or (int, int)
        How many threads a program has, or at least and at most.
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
        After that time no further program is run.
    yielding : float
        How often a thread gives way, per bytecode of Python code, from 0 to 1.
    derandomize : bool
        Whether every run of the test generates the same programs.

    Returns
    -------
    callable
        The decorator. The test raises `NotLinearizable` with the smallest failing program found and its history.

    Raises
    ------
    ValueError
        If the model lacks an operation that is named.

    Examples
    --------
    >>> @linearizable("counter", threads=2)
    ... def test_my_counter():
    ...     return MyCounter()
    """
    menu = Menu(model_of(model), operations, arguments or {}, methods or {})
    fewest, most = (threads, threads) if isinstance(threads, int) else threads
    if not 1 <= fewest <= most:
        raise ValueError(f"a program has at least 1 thread, and not more at least than at most; got {threads!r}")

    def decorate(make: Callable[[], Any]) -> Callable[[], None]:
        trials = _Trials(make, menu, criterion, repeats, seconds, yielding)
        thread = st.deferred(lambda: st.lists(menu.blocks(make()), min_size=1, max_size=most_calls).map(_joined))
        program = st.lists(thread, min_size=fewest, max_size=most).map(tuple)

        def test(program: Program) -> None:
            trials.run(program)

        test.__name__ = test.__qualname__ = getattr(make, "__name__", "test")
        test.__doc__, test.__module__ = make.__doc__, make.__module__
        return settings(
            max_examples=programs,
            derandomize=derandomize,
            database=None,
            deadline=None,
            print_blob=False,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )(given(program=program)(test))

    return decorate


def _joined(blocks: Sequence[Sequence[Step]]) -> tuple[Step, ...]:
    return tuple(step for block in blocks for step in block)


class _Trials:
    """The outcome of each program that was run."""

    def __init__(
        self,
        make: Callable[[], Any],
        menu: Menu,
        criterion: str,
        repeats: int,
        seconds: float,
        yielding: float,
    ) -> None:
        self._make = make
        self._menu = menu
        self._criterion = criterion
        self._repeats = repeats
        self._seconds = seconds
        self._yielding = yielding
        self._until: float | None = None
        self._outcomes: dict[Program, BaseException | None] = {}

    def run(self, program: Program) -> None:
        """Run a program unless it was run before; raise what is wrong with it."""
        if self._until is None:
            self._until = time.monotonic() + self._seconds
        if program not in self._outcomes:
            if time.monotonic() > self._until:
                return
            self._outcomes[program] = self._attempt(program)
        outcome = self._outcomes[program]
        if outcome is not None:
            raise outcome.with_traceback(None)

    def _attempt(self, program: Program) -> BaseException | None:
        """Run a program; more often once something failed, lest a smaller one that fails seldom be taken to pass."""
        failed = any(outcome is not None for outcome in self._outcomes.values())
        repeats = self._repeats * (MORE_WHEN_FAILED if failed else 1)
        histories = rounds(program, self._make, self._menu.call, repeats=repeats, yielding=self._yielding)
        try:
            for attempt, history in enumerate(histories):
                verdict = judge(history, self._menu.model, criterion=self._criterion, timeout=JUDGEMENT)
                if verdict.verdict != "ok":
                    return NotLinearizable(program, history, verdict, attempt)
        except Exception as error:
            return error
        return None
