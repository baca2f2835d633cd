"""Replace functions by those of a mutant, for the rest of the process.

Replacing a function changes all that call it. Those are compiled anew and kept in a cache of the mutant's own; the
others are compiled once for all mutants.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from latchfree import jit
from latchfree_evidence.mutants.catalogue import MUTANTS
from latchfree_support.sources import digest_of

_HERE = "latchfree_evidence.mutants"

#: Modules whose kernels may call what a mutant replaces.
_AFFECTED = (
    "latchfree.ctrie.",
    "latchfree_evidence.tickets",
    "latchfree_evidence.stress.ctrie",
    "latchfree_evidence.stress.ctrie_worker",
    "latchfree_evidence.stress.topics",
    "latchfree_evidence.stress.topic_worker",
    "latchfree_evidence.targets.ctrie",
    "latchfree_evidence.targets.reclaiming",
    "latchfree_evidence.targets.idle",
    "latchfree_evidence.refinement.bridge.target",
    "latchfree_evidence.targets.topics",
    "latchfree.topics.concurrent.",
    "latchfree_evidence.targets.ring",
    "latchfree.streams.",
    "latchfree_evidence.targets.epochs",
    "latchfree_evidence.targets.free_list",
    "latchfree.sketches.",
    "latchfree_evidence.targets.filters",
    "latchfree_evidence.targets.estimates",
    "latchfree_evidence.targets.quantiles",
)

#: The targets that are sketches.
_SKETCHES = (
    "bloom",
    "counting-bloom",
    "scalable-bloom",
    "stable-bloom",
    "inverse-bloom",
    "hyperloglog",
    "minhash",
    "count-min",
    "top-k",
    "kll",
)

#: The packages that a target is made of.
_PACKAGES = {
    "ctrie": ("ctrie.kernels",),
    "idle": ("ctrie.kernels",),
    "topic-trie": ("ctrie.kernels", "topics.concurrent.kernels"),
    "ring": ("streams.kernels",),
    "epochs": ("arena.kernels",),
    "free-list": ("arena.kernels",),
    **dict.fromkeys(_SKETCHES, ("sketches.kernels",)),
}

#: The modules that are loaded before functions are replaced. Kernels loaded later share no compiled code among mutants.
_HOLDERS = {
    "ctrie.kernels": (
        "gcas",
        "helping",
        "idle",
        "insert",
        "lookup",
        "mains",
        "registry",
        "remove",
        "retirement",
        "scan",
        "snapshot",
    ),
    "topics.concurrent.kernels": (
        "agree",
        "change",
        "collect",
        "digits",
        "levels",
        "match",
        "rows",
        "strings",
        "whole",
    ),
    "streams.kernels": ("ring", "entry_points"),
    "arena.kernels": ("allocator", "blocks", "epochs", "freelists", "participants"),
    "sketches.kernels": (
        "bloom",
        "conservative",
        "count_min",
        "counting",
        "hyperloglog",
        "inverse",
        "kll",
        "lanes",
        "minhash",
        "scalable",
        "stable",
        "top",
    ),
}

#: What takes the place of the functions that free nodes of tries. Most mutants leave them out, see `nothing_freed`; one
#: that frees nodes too early runs with `poisoned`, and so does the real code on poisoned memory.
_FREEING: dict[str, dict[str, tuple[str, ...]]] = {
    "nothing_freed": {
        "latchfree.ctrie.kernels.retirement": (
            "begin_retiring",
            "retire_node",
            "finish_retiring",
            "retire_pair",
            "retire_subtree",
        ),
        "latchfree.arena.kernels.allocator": ("abandon",),
    },
    "poisoned": {"latchfree.arena.kernels.freelists": ("give", "put_back", "carve", "take")},
}


def _modules() -> Iterator[ModuleType]:
    for name, module in list(sys.modules.items()):
        if name.startswith(("latchfree.", "latchfree_evidence.stress.", "latchfree_evidence.tickets")):
            yield module


def _kernels() -> set[Any]:
    """Return all kernels of the structure that are loaded."""
    modules = [*_modules(), *(module for name, module in list(sys.modules.items()) if name.startswith(f"{_HERE}."))]
    contents = {content for module in modules for content in vars(module).values() if hasattr(content, "py_func")}
    return {kernel for kernel in contents if kernel.__module__.startswith(("latchfree.", _HERE))}


def _called(kernel: Any) -> Iterator[Any]:
    """Yield the functions that the code of a kernel names, also as attributes of modules."""
    names = kernel.py_func.__code__.co_names
    for name in names:
        content = kernel.py_func.__globals__.get(name)
        yield content
        if isinstance(content, ModuleType):
            yield from (getattr(content, attribute, None) for attribute in names)


def _callers(kernels: set[Any], replaced: set[Any]) -> set[Any]:
    """Return the kernels that are among those replaced, or call one, however indirectly."""
    calls = {kernel: {id(called) for called in _called(kernel)} for kernel in kernels}
    reached = {id(kernel) for kernel in replaced}
    while more := {id(k) for k, called in calls.items() if id(k) not in reached and called & reached}:
        reached |= more
    return {kernel for kernel in kernels if id(kernel) in reached}


def _replace(module: str, function: str, source: str) -> Any:
    """Put the function of that name in module `source` in the place of the one in `module`, wherever it is used."""
    original = getattr(import_module(module), function)
    replacement = getattr(import_module(source), function)
    for holder in _modules():
        if getattr(holder, function, None) is original:
            setattr(holder, function, replacement)
    return replacement


def _sources(module: str) -> str:
    """Return a digest of the sources that a module of this package, not loaded yet, can reach."""
    file = Path(__file__).resolve().parent.joinpath(*module.split(".")).with_suffix(".py")
    return digest_of(f"{_HERE}.{module}", file) or f"unknown{os.getpid()}"


def _common(freeing: str) -> str:
    """Return the name of the cache of kernels that are the same for all mutants of one way to free."""
    return f"{freeing}-{_sources(freeing)}"


def _prepare(target: str, freeing: str, own: str) -> None:
    """Load the kernels of a target, in a cache of their own, and put a way to free in its place."""
    jit.set_variant(own, _AFFECTED)
    packages = _PACKAGES[target]
    for package in packages:
        for holder in _HOLDERS[package]:
            import_module(f"latchfree.{package}.{holder}")
    for module, functions in _FREEING[freeing].items() if "ctrie.kernels" in packages else ():
        for function in functions:
            _replace(module, function, f"{_HERE}.{freeing}")


def _recache(replaced: set[Any], own: str, common: str) -> None:
    """Move what calls a function of a mutant to the mutant's cache, and all other kernels to the common one."""
    kernels = _kernels()
    mutated = _callers(kernels, replaced)
    for kernel in kernels:
        jit.recache(kernel, own if kernel in mutated else common)


def apply_mutant(name: str) -> None:
    """Replace the functions of mutant `name` for the rest of this process, in which nodes are not freed.

    Where the mutant is about freeing, nodes are freed, and poisoned on memory that is.

    Raises
    ------
    ValueError
        If there is no such mutant.
    RuntimeError
        If the structure is loaded already.
    """
    if name not in MUTANTS:
        raise ValueError(f"unknown mutant {name!r}; there are: {', '.join(MUTANTS)}")
    mutant = MUTANTS[name]
    freeing = "poisoned" if mutant.frees else "nothing_freed"
    common = _common(freeing)
    own = f"{name}-{_sources(mutant.source)}-{common}"
    _prepare(mutant.target, freeing, own)
    targets = [target.split(":") for target in mutant.replaces]
    replaced = {_replace(module, function, f"{_HERE}.{mutant.source}") for module, function in targets}
    _recache(replaced, own, common)


def apply_poison(target: str) -> None:
    """Have the real code of a target poison what it frees, for the rest of this process.

    Raises
    ------
    RuntimeError
        If the structure is loaded already.
    """
    common = _common("poisoned")
    _prepare(target, "poisoned", common)
    _recache(set(), common, common)
