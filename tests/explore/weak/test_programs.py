"""Litmus programs and conditions as text: what is read back, and what is refused."""

import random

import pytest
from random_litmus import random_program

from latchfree_explore.weak.outcomes import Outcome, parse_condition
from latchfree_explore.weak.programs import Instruction, parse_program


def test_a_program_is_plain_data():
    program = parse_program("{x=5} store x 1 rlx; load_seq y | cas y 0 2; fence")
    assert program.threads == (
        (Instruction("store", "x", "rlx", (1,)), Instruction("load", "y", "sc")),
        (Instruction("cas", "y", "sc", (0, 2)), Instruction("fence", "", "sc")),
    )
    assert program.initial == {"x": 5, "y": 0}
    assert program.registers == (1, 1)
    assert str(program) == "{x=5} store x 1 rlx; load y sc | cas y 0 2; fence"


def test_orders_have_long_names_and_defaults():
    program = parse_program(
        "load x; store x 1; exchange x 2 acq_rel; fetch_add x 1 relaxed; peek x; poke x 3; fence ar"
    )
    assert [each.order for each in program.threads[0]] == ["acq", "rel", "ar", "rlx", "na", "na", "ar"]
    assert str(program) == "load x; store x 1; exchange x 2 ar; fetch_add x 1 rlx; peek x; poke x 3; fence ar"


@pytest.mark.parametrize("seed", range(50))
def test_each_program_is_read_back(seed):
    program = random_program(random.Random(seed), 5000)
    assert parse_program(str(program)) == program


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "thread 0 is empty"),
        ("load x |", "thread 1 is empty"),
        ("load x; lode y", "thread 0, 'lode y': no instruction 'lode'; there are load, load_seq"),
        ("load", "thread 0, 'load': should be like 'load x'"),
        ("load x | store x", "thread 1, 'store x': should be like 'store x 1'"),
        ("store x 1 rel 2", "should be like 'store x 1'"),
        ("store 1 1", "'1' is no name of a word"),
        ("store x y", "'y' is no number"),
        ("cas x 1", "should be like 'cas x 1 1'"),
        ("load x rel", "thread 0, 'load x rel': cannot be rel; it can be rlx, acq, sc"),
        ("store x 1 acq", "cannot be acq"),
        ("fence rlx", "cannot be rlx"),
        ("load x seq", "no order 'seq'; there are rlx, acq, sc"),
        ("{x} load x", "initial values: 'x' is not like x=1"),
        ("{x=a} load x", "'x=a' is not like x=1"),
    ],
)
def test_what_is_no_program_is_refused(text, message):
    with pytest.raises(ValueError, match="^.*" + message.replace("|", r"\|")):
        parse_program(text)


PROGRAM = parse_program("store x 1; load y | store y 1; load x")


def test_conditions():
    both = Outcome(((0,), (0,)), (("x", 1), ("y", 1)))
    one = Outcome(((0,), (1,)), (("x", 1), ("y", 1)))
    assert parse_condition("0:r0=0 & 1:r0=0", PROGRAM).holds(both)
    assert not parse_condition("0:r0=0 & 1:r0=0", PROGRAM).holds(one)
    assert parse_condition("1:r0=0 | 1:r0=1 & x!=0", PROGRAM).holds(one)
    assert not parse_condition("x=2", PROGRAM).holds(one)
    assert str(both) == "0:r0=0 1:r0=0 x=1 y=1"
    assert str(parse_condition(" 0:r0=0  &  x=1", PROGRAM)) == "0:r0=0 & x=1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not like 0:r0=1 or x=1"),
        ("0:r0=0 &", "'' is not like"),
        ("0:r0", "'0:r0' is not like"),
        ("2:r0=0", "the program has 2 threads, from 0"),
        ("0:r1=0", "thread 0 has 1 registers, from r0"),
        ("z=0", "the program has no word z"),
    ],
)
def test_what_is_no_condition_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_condition(text, PROGRAM)
