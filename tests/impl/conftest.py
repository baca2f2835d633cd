"""Makes the helpers of this folder importable, and gives arenas: private ones, and names for shared ones."""

import os
import secrets
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


@pytest.fixture
def shared_name():
    """A name for a shared arena that nobody else has; whatever is there in the end is removed."""
    name = f"test-{os.getpid()}-{secrets.token_hex(6)}"
    yield name
    Path(f"/dev/shm/latchfree-{name}").unlink(missing_ok=True)
