"""A signal handler may raise in the midst of `__init__`: the finalizer then meets an object without its attributes."""

import pytest

from latchfree.arena.lending import Call, Loan
from latchfree.arena.region import Region
from latchfree.ctrie.holds import Hold, Owner
from latchfree.streams.ownership import Owner as RingOwner
from latchfree.topics.concurrent.subscribers import Kept


@pytest.mark.parametrize("kind", [Call, Hold, Kept, Loan, Owner, Region, RingOwner], ids=lambda kind: kind.__name__)
def test_what_was_not_made_is_collected_in_silence(kind):
    kind.__new__(kind).__del__()
