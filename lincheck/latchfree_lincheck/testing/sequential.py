"""Rule-based state machines made of models: they test that a class does what the model does, used by one thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any
from unittest import TestCase

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from latchfree_lincheck.testing.limits import whole
from latchfree_lincheck.testing.loop import SeededLoop
from latchfree_lincheck.testing.menu import Menu, Method, Step, Strategy, model_of
from latchfree_model import UNKNOWN, Call, Model


def stateful(
    model: str | Model[Any],
    make: Callable[[], Any],
    *,
    operations: Collection[str] | None = None,
    arguments: Mapping[str, tuple[Strategy, ...]] | None = None,
    methods: Mapping[str, Method] | None = None,
    programs: int = 100,
    most_calls: int = 30,
    derandomize: bool = True,
) -> type[TestCase]:
    """Return a test case: every result of generated sequential programs must be one that the model allows.

    Parameters
    ----------
    model : str or Model
        What the object is: a built-in model's name, or a model that lists its operations.
    make : callable
        Makes the object; its ``aclose()`` or ``close()``, if it has one, is called at the end of a program. It and the
        methods may be coroutines: they run on an event loop without a network (`latchfree_lincheck.testing.loop`).
    operations, arguments, methods
        Which operations to call, with what, and how; see `latchfree_lincheck.testing.menu.Menu`.
    programs, most_calls : int
        How many programs are generated, and how long they are at most.
    derandomize : bool
        Whether every run of the test generates the same programs.

    Raises
    ------
    ValueError
        If the model lacks an operation that is named, or the arguments of an operation are unknown.

    Examples
    --------
    >>> TestTrie = stateful("map", Trie)
    """
    chosen = model_of(model)
    menu = Menu(chosen, operations, {} if arguments is None else arguments, {} if methods is None else methods)
    programs, most_calls = whole("programs", programs, 1), whole("most_calls", most_calls, 1)

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.loop = SeededLoop()
            self.target = self.loop.run_until_settled(make())
            self.available = menu.available(self.target)
            self.state = chosen.init()

        def teardown(self) -> None:
            close = getattr(self.target, "aclose", None) or getattr(self.target, "close", None)
            if close is not None:
                self.loop.run_until_settled(close())
            self.loop.close()

    for name in menu.operations or menu.model.operations:
        step = rule(arguments=st.tuples(*menu.drawn(name)))(_rule(name, menu))
        setattr(Machine, name, precondition(partial(_has, name))(step))
    Machine.__name__ = Machine.__qualname__ = f"{chosen.name.title().replace('-', '')}Machine"
    case: type[TestCase] = Machine.TestCase
    case.settings = settings(  # type: ignore[attr-defined]
        max_examples=programs,
        stateful_step_count=most_calls,
        derandomize=derandomize,
        database=None,
        deadline=None,
        print_blob=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    return case


def _has(name: str, machine: Any) -> bool:
    return name in machine.available


def _rule(name: str, menu: Menu) -> Callable[..., None]:
    """Return the rule of an operation: call it, unless it would block, and compare."""
    model = menu.model

    def step(machine: Any, arguments: tuple[Any, ...]) -> None:
        possible, _ = model.step(machine.state, Call(name, arguments, UNKNOWN))
        if not possible:
            return
        result = machine.loop.run_until_settled(menu.call(machine.target, Step(name, arguments)))
        call = Call(name, arguments, result)
        legal, machine.state = model.step(machine.state, call)
        assert legal, model.describe(machine.state, call)

    step.__name__ = name
    return step
