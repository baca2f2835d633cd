"""The profile smoke: the part of the quick profile that finds most in a second.

Example: 31 mutants of the specification break linearizability, and each run of TLC costs more to start than to find
the bug. Smoke runs the smallest of the 31, which shows that the property is checked at all; quick runs them all.

Rule: of the mutants of the specification, the smallest that breaks each property; of the models that must hold, the
smallest of each module, if it is small; of everything else what takes the least time per bug that it can find. The
rules read sizes from the manifest, so a new model needs no line here. Whatever smoke runs, quick runs too.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeVar

from latchfree_model.tlc import SpecModel

T = TypeVar("T")

OPERATIONS: Final = 100_000
"""Operations of the stress run."""

CODE_MUTANTS: Final = ("S1",)
"""The mutants of the code: the explorer needs some dozen schedules for S1, real threads far more operations for W2."""

MOST_STATES: Final = 3_000
"""Distinct states of a model: in the time of a larger one TLC finds five mutants."""

LONG_LEMMAS: Final = frozenset({"insert-keeps-slots", "update-keeps-slots", "remove-keeps-slots"})
"""Three lemmas of 42 that take most of the solver's time."""

LONG_PROOFS: Final = frozenset({"gcas", "deadlists", "trie"})
"""The systems that take most of the solver's time."""


def models_of(models: Sequence[SpecModel]) -> list[SpecModel]:
    """Return the models that smoke runs, in their order."""
    smallest: dict[tuple[bool, str], SpecModel] = {}
    for model in models:
        if not model.mutant and model.expect == "violation":
            continue  # a probe or a broken module: the mutants show that the properties can fail
        if not model.mutant and _size(model) > MOST_STATES:
            continue
        key = (bool(model.mutant), model.property if model.mutant else model.module)
        if key not in smallest or _size(model) < _size(smallest[key]):
            smallest[key] = model
    chosen = {model.name for model in smallest.values()}
    return [model for model in models if model.name in chosen]


def lemmas_of(lemmas: Mapping[str, T]) -> list[T]:
    """Return the lemmas that smoke proves."""
    return [lemma for name, lemma in lemmas.items() if name not in LONG_LEMMAS]


def proofs_of(theorems: Mapping[str, T]) -> list[T]:
    """Return the systems that smoke proves for any number of threads."""
    return [theorem for name, theorem in theorems.items() if name not in LONG_PROOFS]


def mutants_of(mutants: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the mutants of the code that smoke runs, and the layer that catches each."""
    return [(name, layer) for name, layer in mutants if name in CODE_MUTANTS]


def _size(model: SpecModel) -> int:
    return model.distinct or 0
