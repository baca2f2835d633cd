"""Each error of a public call for a plain wrong argument: of an expected class, and its text names the argument."""

import pytest
from boundary_errors import JUDGED, PLAIN, unclear
from boundary_programs import members, plain
from boundary_runs import run

from latchfree.errors import LatchfreeError

PARTS = 12


def _member(label):
    return next(each for each in members() if each.label == label and each.owner.startswith(JUDGED))


@pytest.mark.parametrize(
    ("raised", "what"),
    [
        (TypeError("'float' object cannot be interpreted as an integer"), "does not name 'most'"),
        (TypeError("most: 'float' object cannot be interpreted as an integer"), "does not name the argument"),
        (AttributeError("'int' object has no attribute 'encode'"), "no error that a caller can foresee"),
        (IndexError("list index out of range"), "no error that a caller can foresee"),
        (MemoryError("most"), "no error that a caller can foresee"),
        ("\ud800".encode, "no error that a caller can foresee"),
        (ValueError(""), "without a text"),
        (ValueError("it must be 0 or more"), "does not name 'most'"),
        (ValueError("most must be 0 or more, got -1"), None),
        (LatchfreeError("the ring is gone"), None),
    ],
    ids=lambda each: str(each)[:20] if isinstance(each, Exception) else "",
)
def test_what_is_wrong_with_an_error_is_told(raised, what):
    if callable(raised):
        with pytest.raises(UnicodeEncodeError) as found:
            raised()
        raised = found.value
    said = unclear(raised, _member("RingBuffer.get_many"), ((0, "nan"),), first=True)
    assert said is None if what is None else what in said


def test_right_arguments_that_are_refused_are_told():
    assert "right arguments are refused" in unclear(TypeError("no"), _member("RingBuffer.get_many"), (), first=True)
    assert unclear(TypeError("no"), _member("RingBuffer.get_many"), (), first=False) is None  # in another state


def test_each_argument_is_given_each_plain_value():
    programs = plain()
    given = {(each.member.label, each.hostile) for each in programs}
    assert all((label, ((0, name),)) in given for name in PLAIN for label in ("RingBuffer.put_many", "Bloom.create"))
    assert len(PLAIN) > 90
    assert len(programs) > 80_000


def test_errors_name_the_argument():
    outcome = run(0, -1, 0, PARTS)
    assert not outcome.findings, "\n\n".join(outcome.findings)
    assert outcome.calls > 80_000 / PARTS


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, PARTS))
def test_all_errors_name_the_argument(part):
    outcome = run(0, -1, part, PARTS)
    assert not outcome.findings, "\n\n".join(outcome.findings)
    assert outcome.calls > 80_000 / PARTS
