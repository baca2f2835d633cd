"""`explore_object`: calls on an object of a class, in every order that makes a difference, judged by a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

from latchfree_explore.python.code import Code
from latchfree_explore.python.exploring import SCHEDULES, Switches, explore_program, require_callable
from latchfree_explore.python.objects import ObjectCalls
from latchfree_explore.python.result import ExplorationFailed, PythonExploration
from latchfree_explore.scenario import Invocation, Scenario
from latchfree_model import SequentialModel, get_model

SHRINKING: Final = 20
"""How many smaller scenarios are tried at most, while a failing one is made small."""


def explore_object(
    make: Callable[[], Any],
    scenario: str | Scenario,
    *,
    model: str | SequentialModel[Any] = "map",
    switches: Switches = "free",
    methods: Mapping[str, str | Callable[..., Any]] | None = None,
    strategy: str = "dpor",
    schedules: int = SCHEDULES,
    timeout: float | None = None,
    include: Sequence[str] = (),
    raises: bool = True,
) -> PythonExploration:
    """Call an object from several threads, in every order of accesses that makes a difference, and judge the results.

    Whatever the calls return must be linearizable. A scenario that fails is made smaller, call by call.

    Parameters
    ----------
    make : callable
        Makes the object: a class, or a function.
    scenario : str or Scenario
        Which calls each thread makes: ``"put(0, 1) | get(0); remove(0)"``, with ``init:`` and ``after:``.
    model : str or SequentialModel
        What the object is: a built-in model's name, or a model.
    switches : "free" or "gil"
        See `explore_threads`.
    methods : mapping, optional
        The method of the object for an operation that has another name there, or a function of the object and the
        arguments.
    strategy, schedules, timeout, include, raises
        See `explore_threads`.

    Returns
    -------
    PythonExploration

    Raises
    ------
    ExplorationFailed
        If a schedule goes wrong.
    ValueError
        If the scenario makes no sense, or names an operation that the model or the class does not have.
    TypeError
        If `make` is no function, or `methods` gives something else than names and functions.

    Examples
    --------
    >>> explore_object(dict_with_a_lock, "put(0, 1) | get(0) | remove(0)", model="map")
    """
    __tracebackhide__ = True
    chosen = get_model(model) if isinstance(model, str) else model
    wanted = checked_scenario(make, scenario, chosen, methods)

    code, known = Code(tuple(include)), set[Hashable]()

    def explored(each: Scenario) -> PythonExploration:
        return explore_program(
            calls_of(make, each, chosen, methods, known),
            switches=switches, strategy=strategy, schedules=schedules, timeout=timeout, code=code,
        )  # fmt: skip

    with code.rewritten(calls_of(make, wanted, chosen, methods).roots):
        result = explored(wanted)
        result.scenario = str(wanted)
        if result.wrong is not None:
            result = _smallest(result, wanted, explored)
    if raises and result.wrong is not None:
        raise ExplorationFailed(result)
    return result


def checked_scenario(
    make: Callable[[], Any],
    scenario: str | Scenario,
    model: SequentialModel[Any],
    methods: Mapping[str, str | Callable[..., Any]] | None = None,
) -> Scenario:
    """Return a scenario that the model and the class can make.

    Raises
    ------
    ValueError, TypeError
        See `explore_object`.
    """
    wanted = Scenario.parse(scenario) if isinstance(scenario, str) else scenario
    _validate(wanted, model)
    require_callable("make", make)
    _validate_methods(make, wanted, {} if methods is None else methods)
    return wanted


def calls_of(
    make: Callable[[], Any],
    scenario: Scenario,
    model: SequentialModel[Any],
    methods: Mapping[str, str | Callable[..., Any]] | None = None,
    known: set[Hashable] | None = None,
) -> ObjectCalls:
    """Return the program of a scenario; see `ObjectCalls` for `known`."""
    return ObjectCalls(
        make,
        [_calls(thread) for thread in scenario.threads],
        model,
        _performer(methods or {}),
        _calls(scenario.before),
        _calls(scenario.after),
        known,
    )


def _smallest(
    result: PythonExploration, scenario: Scenario, explored: Callable[[Scenario], PythonExploration]
) -> PythonExploration:
    """Return the result of a failing scenario from which no call can be left out, or of the smallest one tried."""
    tried = 0
    again = True
    while again:
        again = False
        for each in scenario.smaller():
            tried += 1
            if tried > SHRINKING:
                return result
            other = explored(each)
            if other.wrong is not None and result.wrong is not None and other.wrong.kind == result.wrong.kind:
                other.scenario = str(each)
                result, scenario, again = other, each, True
                break
    return result


def _validate(scenario: Scenario, model: SequentialModel[Any]) -> None:
    if scenario.keys:
        raise ValueError(f"keys: {scenario.keys} places keys in a trie; an object in Python has no such layouts")
    for each in scenario.operations:
        if each.f not in model.operations:
            known = ", ".join(model.operations)
            raise ValueError(f"the model {model.name!r} has no operation {each.f!r}; it has {known}")
        if len(each.arguments) != model.operations[each.f]:
            raise ValueError(
                f"{each.f} takes {model.operations[each.f]} argument(s), not {len(each.arguments)}: {each}"
            )


def _validate_methods(make: Callable[[], Any], scenario: Scenario, methods: object) -> None:
    if not isinstance(methods, Mapping):
        raise TypeError(f"methods must be a mapping, got {type(methods).__name__}")
    for name, method in methods.items():
        if not isinstance(method, str):
            require_callable(f"the method for {name!r}", method)
    for each in scenario.operations:
        method = methods.get(each.f, each.f)
        if isinstance(make, type) and isinstance(method, str) and not hasattr(make, method):
            raise ValueError(
                f"{make.__qualname__} has no method {method!r}; fix: methods={{{each.f!r}: the name it has there}}"
            )


def _calls(operations: Sequence[Invocation]) -> list[tuple[str, tuple[Any, ...]]]:
    return [(each.f, each.arguments) for each in operations]


def _performer(methods: Mapping[str, str | Callable[..., Any]]) -> Callable[[Any, str, tuple[Any, ...]], Any]:
    def perform(shared: Any, f: str, arguments: tuple[Any, ...]) -> Any:
        method = methods.get(f, f)
        return getattr(shared, method)(*arguments) if isinstance(method, str) else method(shared, *arguments)

    return perform
