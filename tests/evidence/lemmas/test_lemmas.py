"""Each lemma is proved of the real code and refuted of its wrong twin; the counterexample is one on real numbers."""

import gc
import inspect
import random
from dataclasses import replace

import numpy as np
import pytest
import z3

from latchfree import words
from latchfree.arena.kernels import freelists
from latchfree.atomics import poke
from latchfree.jit import kernel
from latchfree_evidence.lemmas import LEMMAS
from latchfree_evidence.lemmas.comparing import Differs, compare, drawn
from latchfree_evidence.lemmas.symbolic_memory import SymbolicMemory, code
from latchfree_evidence.symbolic.code import Twin
from latchfree_evidence.symbolic.lemma import Lemma, prove
from latchfree_evidence.symbolic.typed import other_numbers
from latchfree_evidence.symbolic.words import Word

#: They take thousands of runs; here a share of them.
LONG = {"insert-keeps-slots", "update-keeps-slots", "remove-keeps-slots"}
STEP = 97


def short(lemma):
    """The lemma on a share of its cases."""
    some = [case for k, case in enumerate(lemma.cases()) if k < 6 or k % STEP == 0]
    return replace(lemma, cases=lambda: iter(some))


def check(lemma):
    proof = prove(lemma, code(), timeout=600)
    assert proof.answer == "proved", (proof.claim, proof.counterexample)
    assert proof.paths > 0
    twin = prove(lemma, code(lemma.twin), timeout=600)
    assert twin.answer == "refuted"
    assert twin.claim


@pytest.mark.parametrize("name", sorted(LONG))
def test_a_long_lemma_is_proved_in_a_share_of_its_cases_and_its_twin_refuted(name):
    check(short(LEMMAS[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LONG))
def test_the_long_ones_in_all_cases(name):
    assert prove(LEMMAS[name], code()).answer == "proved"


@pytest.mark.parametrize("name", sorted(set(LEMMAS) - LONG))
def test_a_lemma_is_proved_and_its_twin_refuted_and_no_term_is_left_to_the_garbage_collector(name, monkeypatch):
    """It may run in another thread, while Z3 works in this one; the proof, or the end of the process, then hangs."""
    collecting = False
    left = []

    def watched(cls):
        finalize = cls.__del__

        def watch(self):
            if collecting:
                left.append(type(self))
            finalize(self)

        return watch

    for cls in (z3.AstRef, z3.Solver, z3.ModelRef):
        monkeypatch.setattr(cls, "__del__", watched(cls))
    gc.collect()
    gc.disable()
    try:
        check(LEMMAS[name])
        collecting = True
        gc.collect()
    finally:
        gc.enable()
    assert left == []


@kernel
def carry(word: Word) -> Word:
    """Add in signed numbers: the literal is one."""
    return (word + 1) >> 63


@kernel
def unsigned_carry(word: Word) -> Word:
    """Add in words."""
    return (word + np.uint64(1)) >> np.uint64(63)


@kernel
def half(word: Word) -> Word:
    """Divide in floats."""
    return np.uint64(word / np.uint64(2))


def test_what_numba_does_not_compute_in_words_is_not_proved():
    """Z3 says of the first function that it is 0 or 1; the compiled one returns 2**64 - 1."""
    assert np.uint64(carry(np.uint64((1 << 64) - 2)) & (1 << 64) - 1) > 1

    def lemma(function):
        def state(case, code):
            case.claim("a bit", code[function](case.word("word")) <= 1)

        return Lemma("carry", "a carry is a bit", state, Twin(function, "63", "62", "two bits"))

    proof = prove(lemma(carry), code())
    lines, first = inspect.getsourcelines(carry.py_func)
    line = first + len(lines) - 1
    assert (proof.answer, proof.claim) == (
        "unknown", f"a proof is of unsigned words: carry:{line}: computes with int64",
    )  # fmt: skip
    assert prove(lemma(unsigned_carry), code()).answer == "proved"
    assert any("float64" in place for place in other_numbers(half.py_func))
    assert other_numbers(unsigned_carry.py_func) == ()


@pytest.mark.parametrize("name", LEMMAS)
def test_compiled_functions_do_what_the_lemma_is_proved_of(name):
    """Every case with random numbers, and every path; of the three lemmas of 2,080 cases the paths of 100 cases."""
    comparison = compare(LEMMAS[name], code(), trials=6, seed=1, sample=100)
    assert comparison.cases == len(list(LEMMAS[name].cases()))
    assert comparison.paths >= min(comparison.cases, 100)
    assert comparison.calls >= comparison.runs + comparison.paths > comparison.paths
    assert comparison.functions


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LEMMAS if len(list(LEMMAS[name].cases())) > 100])
def test_compiled_functions_do_so_on_every_path_of_every_case(name):
    comparison = compare(LEMMAS[name], code(), trials=6, seed=2)
    assert comparison.paths >= comparison.cases == 2080
    assert comparison.runs == 2 * comparison.cases


@kernel
def shifted(mem, at: Word, word: Word) -> None:
    """Write a word that has been shifted in signed numbers."""
    poke(mem, at, np.uint64((word + 1) >> 63))


def trial(function, *, writes=False):
    """A lemma that calls a function with words of many bits."""

    def state(case, code):
        word = case.word("word")
        if writes:
            memory = SymbolicMemory()
            memory.write(3, 0)
            code[function](memory, Word(3), word)
        else:
            code[function](word)

    return Lemma("trial", "a function is called", state, Twin(function, "63", "62", "another one"))


def test_a_compiled_function_that_differs_is_found():
    with pytest.raises(Differs, match=r"carry.* is 0x1 on words, and compiled 0xf{16}"):
        compare(trial(carry), code(), trials=40, seed=1)
    with pytest.raises(Differs, match=r"shifted: word 3 is 0x1 on words, and compiled 0xf{16}"):
        compare(trial(shifted, writes=True), code(), trials=40, seed=1)
    comparison = compare(trial(unsigned_carry), code(), trials=40, seed=1)
    assert (comparison.cases, comparison.runs, comparison.paths, comparison.calls) == (1, 320, 1, 321)


@kernel
def rarely_wrong(word: Word) -> Word:
    """Go wrong, when compiled, for one word of all."""
    if word == np.uint64(0xDEADBEEF << 20):
        return np.uint64((word - word - 1) >> 63)
    return word


def test_a_difference_on_a_path_that_no_random_word_takes_is_found():
    with pytest.raises(Differs, match="rarely_wrong"):
        compare(trial(rarely_wrong), code(), trials=6, seed=1)
    comparison = compare(trial(leaf), code(), trials=6, seed=1)
    assert comparison.paths == 1


@kernel
def leaf(word: Word) -> Word:
    """Return the word."""
    return word


@kernel
def twice(word: Word) -> Word:
    """Ask twice, and the second time only compiled code asks once more."""
    return leaf(word) + leaf(word) + (leaf(word) if np.uint64((word + 1) >> 63) > np.uint64(1) else word)


def test_what_is_abstracted_from_is_answered_in_the_same_order():
    def state(case, code):
        answers = iter((5, 7, 11))
        code.abstracting(leaf=lambda word: Word(next(answers)))[twice](case.word("word"))

    lemma = Lemma("twice", "a function asks twice", state, Twin(leaf, "word", "word", ""))
    with pytest.raises(Differs):
        compare(lemma, code(), trials=40, seed=1)


def test_numbers_are_drawn_from_everywhere():
    rng = random.Random(3)
    found = [drawn(rng, 1000) for _ in range(400)]
    assert min(found) == 0
    assert max(found) == 1000
    assert len(set(found)) > 100
    assert all(0 <= drawn(rng, 0) <= 0 for _ in range(9))


def test_a_lemma_has_one_name_and_says_something():
    assert all(name == lemma.name and lemma.says for name, lemma in LEMMAS.items())
    assert len({lemma.says for lemma in LEMMAS.values()}) == len(LEMMAS)


def test_what_runs_is_what_numba_compiles():
    """The symbolic functions and the compiled ones agree on numbers."""
    rng = np.random.default_rng(5)
    position, mix, size_class = (code()[f] for f in (words.position, words.mix, freelists.size_class))
    for _ in range(200):
        bitmap, bit = int(rng.integers(0, 1 << 63)), int(rng.integers(0, 64))
        assert int(position(bitmap, 1 << bit)) == words.position(np.uint64(bitmap), np.uint64(1 << bit))
    for word in (0, 1, (1 << 64) - 1, 0xDEADBEEF << 20):
        assert int(mix(Word(word))) == words.mix(np.uint64(word))
    for size in (1, 8, 12, 72, 128, 1 << 20):
        assert int(size_class(Word(size))) == freelists.size_class(np.uint64(size))
