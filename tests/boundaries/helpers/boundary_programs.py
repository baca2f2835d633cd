"""Programs: one call each, on one object, with right and hostile arguments."""

from __future__ import annotations

import inspect
import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import boundary_recipes
from boundary_arguments import good
from boundary_errors import JUDGED, PLAIN
from boundary_objects import VARIANTS
from boundary_surface import Member, resolve, surface
from boundary_values import VALUES

#: Pairs of hostile arguments for each call and state.
_PAIRS: Final = 40


@dataclass(frozen=True, slots=True)
class Program:
    """A call.

    Attributes
    ----------
    member : Member
    variant : str
        The state of the object, see `boundary_objects.VARIANTS`; empty for a function.
    hostile : tuple of (int, str)
        Which arguments are hostile, and with what.
    fork : bool
        Whether a forked child makes the call.
    """

    member: Member
    variant: str
    hostile: tuple[tuple[int, str], ...]
    fork: bool = False

    def __str__(self) -> str:
        given = ", ".join(f"{self.member.parameters[at][0]}={name}" for at, name in self.hostile)
        where = f" on {self.variant!r}" if self.variant else ""
        return f"{self.member.label}({given}){where}{' in a forked child' if self.fork else ''}"


def members() -> list[Member]:
    """Return every public call, and the recipes."""
    found = surface()
    for name in sorted(vars(boundary_recipes)):
        call = getattr(boundary_recipes, name)
        if getattr(call, "__module__", "") == boundary_recipes.__name__ and not name.startswith("_"):
            parameters = tuple((each, "positional") for each in inspect.signature(call).parameters)
            found.append(Member(f"boundary_recipes.{name}", "", parameters, "function"))
    only = os.environ.get("BOUNDARY_ONLY", "")
    return [each for each in found if re.search(only, each.label)]


def variants_of(member: Member) -> tuple[str, ...]:
    """Return the states of the object that a call is made on."""
    if member.kind in ("function", "class", "static"):
        return ("",)
    return tuple(VARIANTS[member.owner.rpartition(".")[2]])


def unknown() -> list[str]:
    """Return the public calls that nobody has said how to make."""
    missing = []
    for member in members():
        owner = resolve(member.owner)
        if member.kind in ("method", "property") and member.owner.rpartition(".")[2] not in VARIANTS:
            missing.append(f"{member.label}: boundary_objects.VARIANTS has no object to call it on")
        if member.kind == "class" and hasattr(owner, "__dataclass_fields__"):
            continue  # a record takes None for a field that nobody has named
        missing += [
            f"{member.label}: boundary_arguments.GOOD has no {name!r}"
            for name, kind in member.parameters
            if kind not in ("rest", "named") and good(member.owner, member.name, name) is None
        ]
    return missing


def programs(seed: int) -> Iterator[Program]:
    """Yield all programs; those of two hostile arguments are drawn."""
    rng = random.Random(seed)
    names = list(VALUES)
    for member in members():
        count = len(member.parameters)
        for variant in variants_of(member):
            forks = (False, True) if variant in ("named", "shared", "strict", "private") else (False,)
            for fork in forks:
                yield Program(member, variant, (), fork)
            for at in range(count):
                for name in names:
                    yield Program(member, variant, ((at, name),), fork=rng.random() < 0.02)
            for _ in range(_PAIRS if count > 1 else 0):
                first, second = sorted(rng.sample(range(count), 2))
                yield Program(member, variant, ((first, rng.choice(names)), (second, rng.choice(names))))


def plain() -> list[Program]:
    """Return the programs of the judged packages with one plain wrong argument each, on objects in their first state.

    And, of each call, one without a wrong argument in each state: whole, closed, unlinked, pickled.
    """
    found = []
    for member in members():
        if not member.owner.startswith(JUDGED):
            continue
        first, *others = variants_of(member)
        found += [Program(member, variant, ()) for variant in (first, *others)]
        found += [Program(member, first, ((at, name),)) for at in range(len(member.parameters)) for name in PLAIN]
    return found


def quick(seed: int, each: int) -> list[Program]:
    """Return a selection of programs: so many of each call."""
    rng = random.Random(seed)
    chosen: dict[Member, list[Program]] = {}
    for program in programs(seed):
        chosen.setdefault(program.member, []).append(program)
    return [program for every in chosen.values() for program in rng.sample(every, min(each, len(every)))]
