"""Find a target by name: one of ours, or one that a file declares."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from latchfree_explore.target import Target
from latchfree_explore.target_files import find_target as find_in_file

BUILT_IN: Final = {
    "ctrie": "latchfree_evidence.targets.ctrie:CTRIE",
    "reclaiming-ctrie": "latchfree_evidence.targets.reclaiming:RECLAIMING",
    "dropping": "latchfree_evidence.targets.dropping:DROPPING",
    "idle": "latchfree_evidence.targets.idle:IDLING",
    "topic-trie": "latchfree_evidence.targets.topics:TOPIC_TRIE",
    "ring": "latchfree_evidence.targets.ring:RING",
    "weak-ring": "latchfree_evidence.targets.ring:WEAK_RING",
    "closing-ring": "latchfree_evidence.targets.closing:CLOSING_RING",
    "sleepers": "latchfree_evidence.targets.closing:SLEEPERS",
    "epochs": "latchfree_evidence.targets.epochs:EPOCHS",
    "free-list": "latchfree_evidence.targets.free_list:FREE_LIST",
    "bloom": "latchfree_evidence.targets.filters:BLOOM",
    "hyperloglog": "latchfree_evidence.targets.estimates:HYPERLOGLOG",
    "count-min": "latchfree_evidence.targets.estimates:COUNT_MIN",
    "inverse-bloom": "latchfree_evidence.targets.filters:INVERSE_BLOOM",
    "counting-bloom": "latchfree_evidence.targets.filters:COUNTING_BLOOM",
    "scalable-bloom": "latchfree_evidence.targets.filters:SCALABLE_BLOOM",
    "stable-bloom": "latchfree_evidence.targets.filters:STABLE_BLOOM",
    "minhash": "latchfree_evidence.targets.estimates:MIN_HASH",
    "top-k": "latchfree_evidence.targets.estimates:TOP_K",
    "kll": "latchfree_evidence.targets.quantiles:KLL",
    "pins": "latchfree_evidence.targets.pins:PINS",
    "rate-limiter": "latchfree_evidence.targets.limiter:RATE_LIMITER",
}


def find_target(name: str) -> Target:
    """Return one of `BUILT_IN`, or the target that "FILE.py" or "FILE.py:NAME" declares.

    Raises
    ------
    ValueError
        If there is none, or the file declares several and no name was given.
    """
    if name in BUILT_IN:
        module, attribute = BUILT_IN[name].split(":")
        found: Target = getattr(import_module(module), attribute)
        return found
    if ".py" not in name:
        raise ValueError(f"unknown target {name!r}; there is: {', '.join(BUILT_IN)}, or FILE.py, or FILE.py:NAME")
    return find_in_file(name)
