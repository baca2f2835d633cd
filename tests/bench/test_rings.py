"""The benchmark of rings: what goes in comes out, and a queue that loses a value is found out."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest

from latchfree import RingBuffer

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from measuring import passing
from peers.queues import CONTEXT, KINDS, Kind

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

OURS = KINDS["ring"]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("batched", [False, True])
def test_every_queue_hands_over_what_was_put(name, batched):
    if name == "faster-fifo":
        pytest.importorskip("faster_fifo")
    kind = KINDS[name]
    if batched and kind.put_many is None:
        with pytest.raises(ValueError, match="no calls for many"):
            passing.alone(kind, passing.BATCH, batched=True)
        return
    assert passing.alone(kind, passing.BATCH, batched=batched) > 0
    assert passing.handed(kind, 4 * passing.BATCH, batched=batched, processes=False) > 0
    if kind.processes:
        assert passing.handed(kind, 4 * passing.BATCH, batched=batched, processes=True) > 0


class Forgets(RingBuffer):
    """Puts 0 in the place of 7."""

    __slots__ = ()

    def put(self, value, timeout=None):
        return super().put(0 if value == 7 else value, timeout)


def test_a_queue_that_loses_a_value_is_found_out():
    kind = Kind("forgets", lambda _: contextlib.nullcontext(Forgets(1024)), False)
    with pytest.raises(passing.Lost, match="came out as"):
        passing.handed(kind, passing.BATCH, batched=False, processes=False)


@pytest.mark.parametrize("processes", [False, True])
def test_a_getter_sleeps_until_a_put(processes):
    wake = passing.woken(OURS, 4, 0.01, processes=processes)
    assert 0 < wake.middle <= wake.late
    assert wake.own <= wake.late  # a kernel that says how long a thread was ready counts no less than nothing
    assert CONTEXT.active_children() == []
