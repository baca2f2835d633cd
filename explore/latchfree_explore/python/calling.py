"""What the calls of a scenario become: threads that call an object, or tasks if the calls are coroutines."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from latchfree_explore.python.aio.object_tasks import ObjectTasks
from latchfree_explore.python.given.arguments import require_callable
from latchfree_explore.python.given.owners import Methods, Owner
from latchfree_explore.python.hooks.calls import call, method
from latchfree_explore.python.objects import ObjectCalls
from latchfree_explore.scenario import Invocation, Scenario
from latchfree_model import SequentialModel


def checked_scenario(
    make: Callable[[], Any],
    scenario: str | Scenario,
    model: SequentialModel[Any],
    methods: Methods | None = None,
    owner: Owner | None = None,
) -> Scenario:
    """Return a scenario that the model and the class, or the object if it is known, can make.

    Raises
    ------
    ValueError, TypeError
        See `latchfree_explore.explore_object`.
    """
    if not isinstance(scenario, str | Scenario):
        raise TypeError(f'scenario is text, such as "get(0) | get(0)", or a Scenario, not {type(scenario).__name__}')
    wanted = Scenario.parse(scenario) if isinstance(scenario, str) else scenario
    _validate(wanted, model)
    require_callable("make", make)
    of = Owner(getattr(make, "__qualname__", "the object"), make if isinstance(make, type) else None)
    _validate_methods(of if owner is None else owner, wanted, model, {} if methods is None else methods)
    return wanted


def calls_of(
    make: Callable[[], Any],
    scenario: Scenario,
    model: SequentialModel[Any],
    methods: Methods | None = None,
    known: set[Hashable] | None = None,
) -> ObjectCalls:
    """Return the program of threads that make the calls of a scenario; see `ObjectCalls` for `known`."""
    script, perform = [_calls(thread) for thread in scenario.threads], performer(methods or {})
    return ObjectCalls(make, script, model, perform, _calls(scenario.before), _calls(scenario.after), known)


def tasks_of(
    make: Callable[[], Any],
    scenario: Scenario,
    model: SequentialModel[Any],
    methods: Methods | None = None,
    cancels: int = 0,
    sample: Any = None,
) -> ObjectTasks:
    """Return the program of tasks that make the calls of a scenario; see `ObjectTasks` for `cancels` and `sample`."""
    script, perform = [_calls(thread) for thread in scenario.threads], performer(methods or {})
    return ObjectTasks(make, script, model, perform, _calls(scenario.before), _calls(scenario.after), cancels, sample)


def are_coroutines(owner: Owner, operations: Sequence[str], methods: Methods | None = None) -> bool:
    """Return whether an object is called by tasks: it is made in a loop, or some of its methods are coroutines."""
    return owner.in_a_loop or any(owner.is_coroutine(f, methods or {}) for f in operations)


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


def _validate_methods(owner: Owner, scenario: Scenario, model: SequentialModel[Any], methods: object) -> None:
    if not isinstance(methods, Mapping):
        raise TypeError(f"methods must be a mapping, got {type(methods).__name__}")
    for name, chosen in methods.items():
        if name not in model.operations:
            raise ValueError(
                f"methods: the model {model.name!r} has no operation {name!r}; it has {', '.join(model.operations)}"
            )
        if not isinstance(chosen, str):
            require_callable(f"the method for {name!r}", chosen)
    for each in scenario.operations:
        if not owner.has(each.f, methods):
            raise ValueError(
                f"{owner.name} has no method {methods.get(each.f, each.f)!r}; "
                f"fix: explore_object(..., methods={{{each.f!r}: the name it has there}}), in Python"
            )
        owner.require_arguments(each.f, each.arguments, methods)


def _calls(operations: Sequence[Invocation]) -> list[tuple[str, tuple[Any, ...]]]:
    return [(each.f, each.arguments) for each in operations]


def performer(methods: Methods) -> Callable[[Any, str, tuple[Any, ...]], Any]:
    """Return what makes a call, as rewritten code would: a method in C is a step, too."""

    def perform(shared: Any, f: str, arguments: tuple[Any, ...]) -> Any:
        chosen = methods.get(f, f)
        if isinstance(chosen, str):
            return method(0, shared, chosen, *arguments)
        return call(0, chosen, shared, *arguments)

    return perform
