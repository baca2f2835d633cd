"""Arenas that a killed process has left, and damage done to them."""

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from latchfree import Arena, ArenaFull, Ctrie
from latchfree.arena import layout

STRUCTURES = {"numbers": (int, int), "words": (str, bytes), "pickles": ("pickle", str), "deep": (int, str)}
CAPACITY = 4 << 20
KEYS = 400


def create(path):
    """A new arena with all kinds of structures."""
    with Arena.create(path=path, capacity=CAPACITY) as arena:
        for name, (keys, values) in STRUCTURES.items():
            Ctrie.create(arena, name, keys=keys, values=values, hash_mask=7 if name == "deep" else (1 << 64) - 1)
            change(arena, random.Random(name), 60)


def key_of(name, n):
    return {"words": f"key {n}", "pickles": (n, str(n))}.get(name, n)


def value_of(name, n):
    return {"words": bytes(n % 300), "pickles": "v" * (n % 90), "deep": str(n)}.get(name, n)


def change(arena, rng, steps, kept=None):
    """Change the structures at random, and keep some snapshots and forks in `kept`."""
    tries = {name: Ctrie.open(arena, name) for name in arena.structures()}
    for _ in range(steps):
        name, trie = rng.choice(sorted(tries.items()))
        key = key_of(name, rng.randrange(30 if name == "deep" else KEYS))
        what = rng.random()
        try:
            if what < 0.55:
                trie[key] = value_of(name, rng.randrange(1000))
            elif what < 0.9:
                trie.pop(key, None)
            elif what < 0.97 and kept is not None:
                kept.append(trie.readonly_snapshot() if rng.random() < 0.7 else trie.snapshot())
                if isinstance(kept[-1], Ctrie):
                    kept[-1][key] = value_of(name, 5)
                if len(kept) > 12:
                    del kept[rng.randrange(12)]
            elif what > 0.995:
                trie.clear()
        except ArenaFull:  # of snapshots that nobody has given back yet, if clearing does not help
            with suppress(ArenaFull):
                trie.clear()


def killed(path, seed, *, processes=2):
    """Have some processes change the arena and kill them in the midst of it."""
    rng = random.Random(seed)
    children = [_start(path, rng.randrange(1 << 30)) for _ in range(processes)]
    for _, ready in children:
        assert os.read(ready, 1) == b"!"
        os.close(ready)
    time.sleep(rng.uniform(0, 0.05))
    for child, _ in children:
        os.kill(child, signal.SIGKILL)
    for child, _ in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def _start(path, seed):
    ready, tell = os.pipe()
    child = os.fork()
    if child:
        os.close(tell)
        return child, ready
    try:
        arena = Arena.open(Path(path))
        rng, kept = random.Random(seed), []
        change(arena, rng, 50, kept)
        os.write(tell, b"!")
        while True:
            change(arena, rng, 50, kept)
    finally:
        os._exit(1)


def contents(path):
    """What is in each structure of an arena; opening it leaves traces in the file.

    An update that a killed process has begun counts if it is looked at before the next snapshot; fsck says so, too.
    """
    with Arena.open(Path(path)) as arena:
        tries = {name: Ctrie.open(arena, name) for name in arena.structures()}
        for name, trie in tries.items():
            for n in range(KEYS):
                trie.get(key_of(name, n))
        return {name: dict(trie) for name, trie in tries.items()}


def damage(path, rng):
    """Overwrite some words of an arena's file, mostly of nodes, with what might deceive; returns which."""
    words = np.memmap(path, np.uint64, "r+")
    bump = int(words[layout.H_BUMP])
    changes = []
    for _ in range(rng.choice([1, 1, 1, 2, 5, 40])):
        at = rng.randrange(layout.FIRST_NODE, bump) if rng.random() < 0.9 else rng.randrange(layout.FIRST_NODE)
        old = int(words[at])
        other = int(words[rng.randrange(layout.FIRST_NODE, bump)])
        deceptive = [
            rng.getrandbits(64),
            other,
            other ^ 1 << 63,
            old ^ 1 << rng.randrange(64),
            0,
            (1 << 64) - 1,
            rng.randrange(layout.FIRST_NODE, bump) | rng.choice([0, 1 << 63]),
            rng.randrange(100),
            (old + 1) & ((1 << 64) - 1),
        ]
        new = rng.choice(deceptive)
        words[at] = new
        changes.append((at, old, new))
    words.flush()
    del words
    return changes
