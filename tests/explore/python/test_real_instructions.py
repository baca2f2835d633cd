"""What real threads come to, held before any instruction, the explorer comes to as well: no access is overlooked.

The reduction is compared with all schedules of the explorer (test_reduction.py). An access that the explorer takes for
none is in neither of them. So here real threads of the system run the same two lines, and a trace function changes
threads before any instruction, twice at most.
"""

import random
import sys

import pytest

pytest.importorskip("greenlet")

import opcode_oracle
import racy_pairs
from random_programs import explored

from latchfree_explore.python.program import Machine, Threads
from latchfree_explore.python.rewriting import codes, instrument
from latchfree_explore.python.search.strategies import Reduced

PARTS = 4
PAIRS = racy_pairs.pairs()
pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="a thread that a trace function holds: instructions are those of 3.11"
)


class Outcomes(Threads):
    """Remembers what each schedule came to."""

    def __init__(self, module):
        super().__init__([module.t0, module.t1], module.S)
        self.module, self.seen = module, set()

    def judge(self, run):
        if run.problem is not None and run.problem[0] == "cut":
            return
        assert run.problem is None, run.problem
        (it,) = self._arguments
        errors = [task.error and type(task.error).__name__ for task in run.tasks]
        self.seen.add(racy_pairs.outcome(self.module, it, errors))


def overlooked(read, write):
    """Return the outcomes of real threads that the explorer does not reach, and how many there are in all."""
    module = racy_pairs.module_of(read, write)
    program = Outcomes(module)
    ours, _, _, complete = explored(program, Machine(program, polls=False), Reduced(), 5_000)
    assert complete

    def make():
        module.TOTAL, module.LIMIT[:] = 0, [0, 0]
        return module.S()

    threads = [module.t0, module.t1]
    real = opcode_oracle.outcomes(threads, make, module.__file__, lambda *end: racy_pairs.outcome(module, *end))
    return real - ours, len(real)


def compare(pairs):
    """Return how many outcomes real threads came to; fail with the pairs of which one is overlooked."""
    seen, missed = 0, []
    for read, write in pairs:
        lost, found = overlooked(read, write)
        seen += found
        missed += [f"{read}  //  {write}: {len(lost)} of {found}"] if lost else []
    assert not missed, "\n".join(missed)
    return seen


def test_real_threads_come_to_nothing_new():
    assert compare(random.Random(18).sample(PAIRS, 40)) > 40


def test_an_access_that_is_none_is_noticed(monkeypatch):
    pair = "first(s)", "s.l[0] = 1; s.l[1] = 1"
    assert pair in PAIRS
    assert not overlooked(*pair)[0]
    monkeypatch.setattr(instrument, "of_module", codes.of_module.__wrapped__)
    monkeypatch.setitem(codes.HOOKS, "seen", lambda value, *line: value)
    assert overlooked(*pair)[0]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_real_threads_come_to_nothing_new_for_any_pair(part):
    pairs = PAIRS[part::PARTS]
    print(f"{len(pairs):,} pairs: {compare(pairs):,} outcomes of real threads, none overlooked")
