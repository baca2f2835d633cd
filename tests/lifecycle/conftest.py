"""An arena in a file, as services share it."""

import pytest

from latchfree import Arena, Ctrie


@pytest.fixture
def path(tmp_path):
    """The file of a closed arena with a map ``numbers``, in which 0 to 99 are mapped to themselves."""
    path = tmp_path / "shared.arena"
    with Arena.create(path=path, capacity=64 << 20) as arena:
        Ctrie.create(arena, "numbers", keys=int, values=int).update({k: k for k in range(100)})
    return path
