"""Scenarios of the explorer's smaller targets as programs in plain Python: sketches and the rate limiter.

Example: ``add(1) | add(2) | after: contains(1); contains(2)`` of the target `bloom` runs on 4,096 words of a list. The
kernels of the target are translated as those of the filter are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from latchfree_evidence.systematic.interleaved.exploring import Program
from latchfree_evidence.systematic.interleaved.programs import Alone, calls_of, ran
from latchfree_evidence.systematic.plain.world import World
from latchfree_explore.scenario import Scenario

_RECORD: Final = 64

SKETCHES: Final = {
    "inverse-bloom": (
        "add(0)",
        "add(1) | add(1)",
        "init: add(1) | add(1) | add(2) | after: add(1)",
        "add(1) | add(2) | add(1)",
    ),
    "counting-bloom": (
        "add(1) | add(2) | after: contains(1); contains(2)",
        "init: add(1); add(2) | remove(1) | remove(1) | after: contains(2)",
        "init: add(1); add(1) | remove(1) | add(2) | after: contains(1); contains(2)",
        "init: fill(1); add(1); drain(1) | contains(1)",
        "init: add(1) | remove(1); add(2) | remove(1) | after: contains(2)",
    ),
    "stable-bloom": (
        "add(1) | add(2) | after: contains(1); contains(2)",
        "add(1); cells()",
        "init: add(1) | add(2) | add(3) | after: contains(2); contains(3)",
    ),
    "scalable-bloom": (
        "add(1) | add(2) | after: counted()",
        "add(1) | add(2) | after: unfilled()",
        "add(1); contains(1) | add(2); contains(2)",
        "init: add(1) | add(2) | add(3); contains(1) | after: contains(2); contains(3); unfilled()",
        "add_two(1, 2) | add_two(3, 4) | after: counted(); unfilled(); contains(1); contains(4) | keys: twos",
        "add_two(1, 2) | add(3) | after: counted(); unfilled(); contains(2) | keys: twos",
    ),
    "top-k": (
        "init: add(2) | add(1) | forged()",
        "add(1) | add(2) | after: forged()",
        "add(1) | add(2) | after: heal(2)",
        "add(1) | add(1) | after: forged(); heal(1)",
    ),
    "count-min": (
        "init: add(33) | add(1) | add(1) | after: estimate(1)",
        "add(1) | add(1) | after: most()",
        "add(1) | add(1) | after: estimate(1) | keys: plain",
        "merge(1) | add(1) | after: estimate(1)",
        "merge(1) | add(1) | after: estimate(1); most() | keys: plain",
        "slice(1) | slice(1) | after: estimate(1); most() | keys: plain",
        "slice(1) | add(1) | add(1) | after: estimate(1); most() | keys: plain",
        "init: add(1) | add(1); estimate(1) | add(33) | after: estimate(1); estimate(33)",
        "add(1); add(2) | add(1) | add(2) | after: estimate(1); estimate(2)",
    ),
    "kll": (
        "add(1) | count()",
        "init: add(1) | add(2); add(3); add(4) | count()",
        "init: add(1) | add(2) | count()",
        "add(1) | add(2) | after: count()",
        "add(1); add(2) | add(3); add(4) | count() | after: count()",
    ),
    "bloom": (
        "add(1) | add(2) | after: contains(1); contains(2)",
        "add(1) | merge(2) | after: contains(1); contains(2)",
        "add(1) | contains(1) | after: contains(1)",
    ),
    "hyperloglog": (
        "add(1) | add(2) | after: contains(1); contains(2)",
        "add(1) | add(9) | add(17) | after: contains(9)",
    ),
    "minhash": (
        "add(1) | add(2) | after: contains(1); contains(2)",
        "add(1); contains(1) | add(3) | after: contains(3)",
    ),
}  # fmt: skip
LIMITER: Final = {
    "rate-limiter": (
        "acquire(2) | acquire(1) | tick()",
        "acquire(1) | acquire(1) | acquire(1)",
        "init: acquire(2) | acquire(1) | tick() | after: acquire(1)",
        "init: acquire(1) | acquire(1); tick() | acquire(1); acquire(1) | after: acquire(2)",
    )
}


class _Words(list):  # type: ignore[type-arg]
    """Words of memory; an index below 0 is none."""

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, slice) and at < 0:
            raise IndexError(at)
        return super().__getitem__(at)


def _with_layout(mem: Any, name: str, keys: str) -> None:
    """Change a structure as the target's own `prepare` does."""
    from latchfree.sketches.kernels import scalable
    from latchfree.sketches.kernels.rows import CONSERVATIVE

    if name == "count-min":
        mem[_RECORD + int(CONSERVATIVE)] = int(keys != "plain")
    if name == "scalable-bloom":
        for k in range(3):
            layer = _RECORD + int(scalable.FIRST_LAYER) + k * int(scalable.LAYER_WORDS)
            mem[layer + int(scalable.ITEMS)] = 2 if keys == "twos" else 1


def of_targets(replaced: Any, called: set[tuple[str, str]] | None) -> Callable[[str], Program]:
    """Return what makes the program of a text that begins with the name of a target."""
    from latchfree_evidence.targets.finding import find_target

    world = World(steps=True, replaced=replaced, called=called)

    def program(text: str) -> Program:
        name, _, rest = text.partition(": ")
        target, scenario = find_target(name), Scenario.parse(rest)
        target.validate(scenario)
        outer: Any = Alone(world)
        threads, keys = len(scenario.threads), scenario.keys
        mem = _Words([0] * target.size)
        root = int(outer[target.setup](mem, threads + 1))
        _with_layout(mem, name, keys)
        before = ran(calls_of(world, target, mem, root, scenario.before, threads, "init", keys))
        saved = list(mem)

        def reset() -> None:
            mem[:] = saved

        return Program(
            text,
            target.model,
            reset,
            lambda: [calls_of(world, target, mem, root, t, k, str(k), keys) for k, t in enumerate(scenario.threads)],
            before,
            lambda: ran(calls_of(world, target, mem, root, scenario.after, threads, "after", keys)),
            lambda: None,
            target.judged,
        )

    return program


def texts_of(scenarios: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return programs, each with the name of its target."""
    return tuple(f"{name}: {text}" for name, texts in scenarios.items() for text in texts)
