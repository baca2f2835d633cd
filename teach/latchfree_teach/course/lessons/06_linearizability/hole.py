"""Lesson 6: what is right? Replace the bodies of `result`, `after`, `linearizable` and `history`."""

from latchfree_teach.grading.histories import NOTHING, PUT, TAKE, Puzzle, begin, end

PICTURES = [
    "+0 put 1; -0 True; +1 take; -1 1",
    "+0 put 1; +1 take; -1 1; -0 True",
    "+0 put 1; -0 True; +1 take; -1 nothing",
    "+0 put 1; +1 put 2; -0 True; -1 True",
    "+0 put 1; +1 put 2; +2 take; -0 True; -1 True; -2 1",
    "+0 put 1; +1 take; -1 1",
    "+0 take; +1 put 1; -1 True; +1 put 2; -1 True",
    "+0 put 1; -0 True; +1 take; +2 take; -1 1; -2 1",
    "+0 put 1; -0 True; +0 take; +1 take; -0 nothing; -1 1",
    "+0 put 1; +1 take; -1 1; +1 take; -1 1; -0 True",
]  # the histories of the page: + begins, - returns


def result(state, f, value):
    """Return what an operation returns in a state: True or False for PUT, the value or NOTHING for TAKE."""
    return NOTHING


def after(state, f, value):
    """Return the state after the operation; a state is the value in the place, or NOTHING."""
    return state


def linearizable(number):
    """Return whether a history of the page, 1 to 10, is linearizable."""
    return True


def history():
    """Record at most five operations that are sequentially consistent and not linearizable."""
    begin(0, PUT, 1)
    end(0, True)


BUFFER = Puzzle(result, after, linearizable, history, PICTURES)
