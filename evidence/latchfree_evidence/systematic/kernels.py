"""Which kernels are mutated, by what judges them; and which are not, with the reason.

A test lists the files of `latchfree` that have compiled functions, by a program, and compares.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import latchfree
from latchfree.border import Call
from latchfree.ctrie.border import TRIE

_CTRIE: Final = "latchfree.ctrie.kernels"
_ARENA: Final = "latchfree.arena.kernels"
_RING: Final = "latchfree.streams.kernels"
_SKETCHES: Final = "latchfree.sketches.kernels"
_TOPICS: Final = "latchfree.topics.concurrent.kernels"
_MASKS: Final = "latchfree.topics.mask.kernels"

#: By what judges them: the modules whose kernels are changed.
MODULES: Final[dict[str, tuple[str, ...]]] = {
    "ctrie": tuple(
        f"{_CTRIE}.{name}"
        for name in (
            "elements", "entry_points", "gcas", "groups", "helping", "idle", "insert", "lookup", "loops", "mains",
            "nodes", "registry", "remove", "retirement", "scan", "snapshot", "snode", "trees",
        )
    ),
    "arena": tuple(
        f"{_ARENA}.{name}" for name in ("allocator", "blocks", "epochs", "freelists", "node", "participants", "pieces")
    ),
    "ring": tuple(
        f"{_RING}.{name}"
        for name in (
            "counts", "entry_points", "handing_over", "mending", "parking", "payload", "positions", "ring", "roster",
            "shutting",
        )
    ),
    "sketches": tuple(
        f"{_SKETCHES}.{name}"
        for name in (
            "bloom", "candidates", "compacting", "conservative", "count_min", "counting", "hashing",
            "hyperloglog", "inverse", "kll", "lanes", "minhash", "partitioned", "record", "rows", "scalable", "slices",
            "stable", "top",
        )
    ),
    "foreign": tuple(
        f"{_SKETCHES}.foreign.{name}"
        for name in (
            "bits", "bits_spark", "counters", "coupons", "murmur128", "murmur32", "rows_datasketches", "rows_spark",
        )
    ),
    "limiter": ("latchfree.limiting.kernels.bucket",),
    "header": tuple(f"{_ARENA}.{name}" for name in ("counting", "directory", "state")),
    "topics": tuple(
        f"{_TOPICS}.{name}"
        for name in (
            "agree", "change", "collect", "copies", "digits", "levels", "match", "near", "rows", "single", "strings",
            "whole",
        )
    ),
    "words": ("latchfree.sorting", "latchfree.words"),
    "mask": tuple(
        f"{_MASKS}.{name}"
        for name in ("found", "group_keys", "records", "search", "shapes", "table", "texts", "trie")
    ),
    "objects": (
        *(
            f"{_CTRIE}.{name}"
            for name in (
                "by_reference", "integers", "methods", "objects", "references", "single", "slots", "surprise", "taking",
                "visiting",
            )
        ),
        "latchfree.border.objects",
    ),
}  # fmt: skip

_FEW: Final = "three reads of words of a context, which no operator changes"

#: The other modules with compiled functions, each with the reason why it is left out.
LEFT_OUT: Final[dict[str, str]] = {
    f"{_CTRIE}.context": _FEW,
    "latchfree.llvm": "the instructions that all accesses are made of; plain Python has its own",
}  # fmt: skip


def is_compiled(function: ast.FunctionDef) -> bool:
    """Return whether a function is a kernel, or says what one does for some types."""
    decorators = [ast.unparse(each) for each in function.decorator_list]
    return any(each in ("kernel", "entry") or each.startswith("overload(") for each in decorators)


@cache
def bodies() -> frozenset[tuple[str, str]]:
    """Return module and name of the functions that the interpreter calls itself, which are compiled as they are."""
    functions: list[Any] = [call.function for call in TRIE.calls.values() if not isinstance(call, Call)]
    return frozenset((each.__module__, each.__qualname__) for each in functions)


def with_kernels() -> Iterator[str]:
    """Yield the modules of `latchfree` that have compiled functions, by their sources."""
    top = Path(latchfree.__file__).parent
    for file in sorted(top.rglob("*.py")):
        functions = (each for each in ast.walk(ast.parse(file.read_text())) if isinstance(each, ast.FunctionDef))
        if any(map(is_compiled, functions)):
            yield ".".join((top.name, *file.relative_to(top).with_suffix("").parts))
