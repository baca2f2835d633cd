"""The interpreter of translated kernels: what it does for a kernel, and what it refuses."""

import sys

import pytest

from latchfree import Ctrie
from latchfree_evidence.systematic.kernels import bodies
from latchfree_evidence.systematic.plain.interpreter import Interpreter, decref, incref, thing_at
from latchfree_evidence.systematic.plain.maps import maps
from latchfree_evidence.systematic.plain.world import World


class Thing:
    def __hash__(self):
        raise ValueError("no hash")


@pytest.fixture
def c():
    return Interpreter()


def test_a_result_is_owned_by_who_calls(c):
    thing = Thing()
    before = sys.getrefcount(thing)

    def kernel(address):
        incref(address)
        return address

    assert c.object(kernel, id(thing)) is thing
    assert sys.getrefcount(thing) == before


def test_what_a_user_raises_is_set_and_comes_out(c):
    thing, named = Thing(), c.named()

    def kernel(address):
        return 0 if named["PyObject_Hash"](address) == -1 else address

    with pytest.raises(ValueError, match="no hash"):
        c.object(kernel, id(thing))
    assert c.error is None
    assert not c.broken


def sets_an_error(c, result):
    def kernel():
        c.named()["PyErr_BadArgument"]()
        return result

    return kernel


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda c: lambda: 0, "no result, and no error"),
        (lambda c: sets_an_error(c, id(c)), "a result, and an error"),
        (lambda c: lambda: c.named()["Py_DecRef"](id(c)) or id(c), "while somebody is pinned"),
        (lambda c: lambda: c.named()["PyObject_Hash"](id(c)) and id(c), "while somebody is pinned"),
        (lambda c: lambda: c.named()["PyTuple_New"](2), "while somebody is pinned"),
        (lambda c: lambda: c.named()["call_2"](5, 1, 2), "no function is at"),
        (lambda c: lambda: id(thing_at(0)), "there is none"),
    ],
)
def test_what_no_kernel_may_do(c, make, said):
    if "pinned" in said:
        c.pinned = lambda: True
    with pytest.raises(AssertionError, match=said):
        c.object(make(c))
    assert c.broken


def test_nobody_writes_past_the_stack(c):
    import ctypes

    def kernel(words):
        place = c.room(2)
        for at in range(words):
            ctypes.c_uint64.from_address(place + 8 * at).value = 1
        return 7

    assert c.number(kernel, 2) == 7
    with pytest.raises(AssertionError, match="nobody asked for"):
        c.number(kernel, 3)


def test_what_is_made_for_a_call_goes_with_it(c):
    named, text = c.named(), "tea and \u00e9"

    def kernel(address, drops):
        made = named["PyUnicode_AsUTF8String"](address)
        for _ in range(drops):
            named["Py_DecRef"](made)
        return 1

    assert c.number(kernel, id(text), 1) == 1
    with pytest.raises(AssertionError, match="kept, or let go of twice"):
        c.number(kernel, id(text), 0)


def test_memory_runs_out_once(c):
    named = c.named()
    c.failing = 1
    kept = [named["PyTuple_New"](1), named["PyTuple_New"](1), named["PyTuple_New"](1)]
    assert kept[0]
    assert not kept[1]
    assert kept[2]
    assert isinstance(c.error, MemoryError)
    decref(kept[0])
    decref(kept[2])


def test_maps_are_those_of_users_before_and_after():
    before = dict(vars(Ctrie))
    with maps(World()) as stage:
        trie = Ctrie({"tea": 4}, keys=str, values=int, arena=stage.arena())
        assert trie["tea"] == trie.get("tea") == 4
        assert trie["tea"]
        assert not stage.c.asked
        assert dict(vars(Ctrie)) != before
        del trie
    assert dict(vars(Ctrie)) == before
    assert Ctrie({"tea": 5}, keys=str, values=int)["tea"] == 5


def test_a_place_without_a_pin_is_refused():
    with maps(World()) as stage:
        trie = Ctrie({1: 2}, arena=stage.arena())
        stage.c.pinned = lambda: True
        with pytest.raises(AssertionError, match="pinned"):
            trie.get(1)
        stage.c.broken.clear()
        stage.c.error = None
        stage.c.pinned = lambda: False


def test_the_functions_that_the_interpreter_calls_are_mutated_too():
    assert ("latchfree.ctrie.kernels.by_reference", "_subscript") in bodies()
    assert ("latchfree.ctrie.kernels.taking", "_end_hold") in bodies()
