"""A call stops where it is told to, and a scene is played with a stop before each of its accesses."""

import pytest

from latchfree.streams.kernels import parking
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.halting import Halted, everywhere

WORD = 3


def told(value=5):
    memory = [0] * 8
    memory[WORD] = value
    return memory, Halted(World().stepping(), parking.tell, memory, WORD)


def test_a_call_stops_before_its_first_access():
    memory, call = told()
    assert call.access is not None
    assert call.access[0] == "fence"
    assert memory[WORD] == 5


def test_until_stops_before_an_access_of_a_word():
    memory, call = told()
    call.until("cas", WORD)
    assert call.access[:1] + call.access[2:] == ("cas", WORD, 5, 6)
    assert memory[WORD] == 5
    memory[WORD] = 7  # somebody else was faster
    assert call.finish()
    assert memory[WORD] == 7


def test_until_fails_where_there_is_no_such_access():
    _, call = told(4)
    with pytest.raises(AssertionError, match="the call comes to an access: cas"):
        call.until("cas", WORD)


def test_a_scene_is_played_for_every_access():
    stops = []

    def scene(before):
        memory, call = told()
        more = call.run(before)
        stops.append(memory[WORD])
        call.finish()
        return more

    everywhere(scene, 3)
    assert stops == [5, 5, 5, 6]


def test_a_call_with_fewer_accesses_than_expected_is_a_failure():
    with pytest.raises(AssertionError, match="there were places to stop at: 0"):
        everywhere(lambda before: False, 1)
