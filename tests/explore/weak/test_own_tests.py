"""Files with litmus tests of one's own."""

import pytest

from latchfree_explore.weak.suite import FILE, load_suite, load_tests

GOOD = """
[[test]]
name = "mine"
program = "store x 1; load y | store y 1; load x"
weak = "0:r0=0 & 1:r0=0"
sc = "forbidden"
tso = "forbidden"
"""


def test_what_is_expected_is_compared():
    (test,) = load_tests(GOOD)
    assert (test.name, test.differences, list(test.verdicts)) == ("mine", ("tso",), ["sc", "tso"])
    assert load_tests("") == ()


def test_the_suite_reads_its_file():
    assert FILE.read_text(encoding="utf-8").count("[[test]]") == len(load_suite())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[test]]\nweak = 'x=1'", "test 0: has no program"),
        ("[[test]]\nname = 'a'\nprogram = 'load x'", "test a: has no weak"),
        (GOOD + "\nrc11 = 'maybe'", "test mine: rc11 = 'maybe': should be allowed or forbidden"),
        (GOOD + "\narm = 'allowed'", "test mine: arm = 'allowed': there are name, family, program, weak, sc, tso"),
        (GOOD + "\nrc11 = 3", "test mine: rc11 = 3"),
        (GOOD.replace("load y", "lode y"), "test mine: thread 0, 'lode y': no instruction"),
        (GOOD.replace("1:r0=0", "1:r3=0"), "test mine: condition: '1:r3=0': thread 1 has 1 registers"),
        ("tests = 3", "there should be tables"),
        ("test = 3", "there should be tables"),
        ("[[test", "Expected"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(text, message):
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        load_tests(text)
