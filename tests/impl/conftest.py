"""Makes the helpers of this folder importable: the pools of keys and the walker of nodes."""

import sys
from pathlib import Path

import pytest

from latchfree import Arena, Ctrie

sys.path.insert(0, str(Path(__file__).parent / "helpers"))


@pytest.fixture
def arena():
    return Arena.anonymous(64 << 20)


@pytest.fixture
def trie(arena):
    return Ctrie(keys=int, values=int, arena=arena)
