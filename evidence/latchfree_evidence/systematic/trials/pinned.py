"""Answers that are pinned: a program of a user prints them on compiled code, and must print the same on every kernel.

Example: forty items are added to a Bloom filter, and its bytes are taken. Sketches and indexes are stored, and read by
later versions; two are merged that were made in different processes. So which bits are set may never change, and a
digest of all answers says what they were.

A test runs the same programs on the compiled kernels, so the digests are not those of the translation.
``python -m latchfree_evidence.systematic.trials.pinning`` writes the file anew.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from latchfree_evidence.systematic.plain.faces import faces
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require

FILE: Final = Path(__file__).parent / "pinned.json"

#: A program of a user: takes a seed, fails where a model says so, and returns its answers.
Script = Callable[[int], Any]


def digest(answers: Any) -> str:
    """Return a digest of answers: numbers, strings, bytes, and lists of them."""
    return hashlib.sha256(repr(answers).encode()).hexdigest()[:24]


def key_of(script: Script, seed: int) -> str:
    """Return what the answers of a script are kept under."""
    return f"{script.__module__.rpartition('.')[2]}.{script.__name__} {seed}"


@functools.cache
def _kept() -> dict[str, str]:
    found: dict[str, str] = json.loads(FILE.read_text())
    return found


def trial_of(script: Script) -> Callable[[World, int], None]:
    """Return a trial that runs a script on the kernels of a world, and compares its answers."""

    def trial(world: World, seed: int) -> None:
        with faces(world):
            answers = script(seed)
        require(digest(answers) == _kept()[key_of(script, seed)], "the answers are those pinned")

    trial.__module__, trial.__name__ = script.__module__, script.__name__
    return trial
