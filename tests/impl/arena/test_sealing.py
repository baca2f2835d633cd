"""Who opens and who closes change one word, and wait for nobody, wherever somebody is stopped."""

import itertools

import numpy as np
import pytest

from latchfree.arena import header, layout, sealing

CAPACITY = 4 << 20


@pytest.fixture
def words():
    made = np.zeros(CAPACITY // 8, np.uint64)
    header.format_header(made)
    return made


def state(words):
    return header.tag(int(words[layout.H_STATE]))


def nothing():
    pass


class Looks:
    """Answers of the kernel, one after the other, each with something that happens just before it."""

    def __init__(self, *answers):
        self.answers = iter(answers)

    def __call__(self):
        answer, happens = next(self.answers)
        happens()
        return answer


def test_who_is_not_the_last_leaves_the_arena_in_use(words):
    sealing.leave(words, 1, lambda: True, nothing)
    assert state(words) == layout.IN_USE


def test_an_opener_between_the_mark_and_the_second_look_is_seen(words):
    sealing.leave(words, 1, Looks((False, nothing), (True, nothing)), nothing)
    assert state(words) == layout.IN_USE


def test_an_opener_after_the_second_look_replaces_the_mark(words):
    sealing.leave(words, 1, lambda: False, lambda: sealing.enter(words))
    assert state(words) == layout.IN_USE


def test_a_closer_who_was_stopped_changes_nothing_later(words):
    """While the first is stopped before its last step, another opens, writes and seals."""

    def another():
        sealing.enter(words)
        words[layout.H_GENERATION] = 7
        sealing.leave(words, 2, lambda: False, nothing)
        sealed.append(int(words[layout.H_STATE]))

    sealed = []
    sealing.leave(words, 1, lambda: False, another)
    assert sealed == [words[layout.H_STATE]]
    header.validate(words, CAPACITY, "arena", alone=True)


@pytest.mark.parametrize("identity", [1, 2])
def test_the_mark_of_a_closer_who_was_stopped_is_taken_over(words, identity, monkeypatch):
    monkeypatch.setattr(sealing, "_NAP", 0)
    words[layout.H_STATE] = header.sealing(1)
    sealing.leave(words, identity, lambda: False, nothing)
    assert state(words) == layout.CLEAN


def test_what_cannot_be_brought_to_disk_is_not_sealed(words):
    def fail():
        raise OSError("bad disk")

    with pytest.raises(OSError, match="bad disk"):
        sealing.leave(words, 1, lambda: False, fail)
    assert state(words) == layout.IN_USE


def test_an_arena_of_another_boot_is_not_sealed(words):
    words[layout.H_STATE] ^= np.uint64(2)
    before = words.copy()
    sealing.leave(words, 1, lambda: False, nothing)
    np.testing.assert_array_equal(words, before)


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("second", range(4))
def test_two_closers_stopped_anywhere_leave_the_arena_sealed(words, first, second, monkeypatch):
    """Each look of the first closer is a place where the second goes on by a look, in every order."""
    monkeypatch.setattr(sealing, "_NAP", 0)
    looks = itertools.count()

    def other():
        if next(looks) in (first, first + second):
            sealing.leave(words, 2, lambda: False, nothing)
        return False

    sealing.leave(words, 1, other, nothing)
    assert state(words) == layout.CLEAN
    header.validate(words, CAPACITY, "arena", alone=True)
