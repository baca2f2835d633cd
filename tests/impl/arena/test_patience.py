"""Patience with a full arena: when it collects, when it also merges, and when it gives up."""

import pytest

from latchfree.arena.patience import Patience


class Recorded:
    """Stands for an arena; notes what is asked of it."""

    def __init__(self):
        self.calls = []

    def collect(self):
        self.calls.append("collect")

    def merge(self, *, bulk):
        self.calls.append(f"merge {bulk}")


@pytest.mark.parametrize("bulk", [False, True])
def test_it_collects_then_merges_then_gives_up(bulk):
    arena = Recorded()
    patience = Patience(arena, bulk=bulk)
    assert [patience.make_room() for _ in range(6)] == [True] * 5 + [False]
    assert arena.calls == ["collect"] * 4 + [f"merge {bulk}", "collect", f"merge {bulk}"]


def test_progress_begins_the_count_again():
    arena = Recorded()
    patience = Patience(arena)
    for _ in range(5):
        assert patience.make_room()
    assert patience.make_room(progress=True)
    assert arena.calls[-1] == "collect", "an attempt that got on asks for no merge"
    assert [patience.make_room() for _ in range(6)] == [True] * 5 + [False]
