"""A map's operations on one key run as compiled code, and do what the Python functions do."""

import ast
import gc
import inspect
import os
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from latchfree import Arena, Ctrie
from latchfree.ctrie import slots
from latchfree.ctrie.one_key import OneKey
from latchfree.ctrie.slots import Slots

compiled = pytest.mark.skipif("get" not in vars(Slots), reason="maps are plain here")

LONG = "tea" * 30_000
TEXTS = ["", "a", "tea", "seven77", "eight888", "t\u00e9", "\u20ac", "\U0001f375" * 3, "a\0b", "\0", LONG[:65_535]]
BYTES = [b"", b"a", b"\0", b"seven77", b"eight888", b"\xff" * 17, b"t\xc3\xa9"]
INTS = [0, 1, -1, 5, 1 << 62, -(1 << 63), (1 << 63) - 1]
OF = {int: INTS, str: TEXTS, bytes: BYTES}


class Text(str):
    """A string of a class of its own."""


class Number(int):
    """An integer of a class of its own."""


class Index:
    def __index__(self):
        return 5


#: What compiled code leaves to Python: refused by some maps, taken by others.
ODD = [
    None, True, 1 << 63, -(1 << 63) - 1, 1 << 200, 1.0, "5", b"5", "\ud800", "t\ud800\u00e9", LONG, b"x" * 65_536,
    Text("tea"), Text("t\u00e9"), Number(5), Index(), bytearray(b"a"), memoryview(b"a"), (), (1, 2), [], object,
]  # fmt: skip


def outcome(call, *arguments, **named):
    """What a call returns, or the error it raises."""
    try:
        return call(*arguments, **named)
    except Exception as error:
        return type(error), error.args


def same(one, other):
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("values", [int, str, bytes])
@pytest.mark.parametrize("keys", [int, str, bytes])
def test_compiled_and_plain_and_dict_agree(keys, values, rng):
    """Each operation is called as compiled code, as Python function of another map, and on a dict."""
    arena = Arena.anonymous(64 << 20)
    quick, plain, model = Ctrie(keys=keys, values=values, arena=arena), Ctrie(keys=keys, values=values, arena=arena), {}
    all_keys, all_values = OF[keys] * 4 + ODD, OF[values] * 6 + ODD
    of_dict = {
        "__getitem__": lambda d, k: d[k],
        "__contains__": lambda d, k: k in d,
        "__delitem__": lambda d, k: d.__delitem__(k),
        "__setitem__": lambda d, k, v: d.__setitem__(k, v),
        "get": dict.get,
        "pop": dict.pop,
        "setdefault": dict.setdefault,
        "remove": lambda d, k: d.pop(k, d) is not d,
        "put": lambda d, k, v: (d.get(k), d.__setitem__(k, v))[0],
        "put_if_absent": lambda d, k, v: d[k] if k in d else d.__setitem__(k, v),
        "put_if_present": lambda d, k, v: (d[k], d.__setitem__(k, v))[0] if k in d else None,
        "get_or_insert": dict.setdefault,
        "replace": lambda d, k, old, new: k in d and d[k] == old and (d.__setitem__(k, new), True)[1],
    }
    taken = 0
    for _ in range(1500):
        name = rng.choice(list(of_dict))
        more = {"get": rng.choice((0, 1)), "pop": rng.choice((0, 1)), "replace": 2}.get(name, name[0] in "psg")
        if name in ("__setitem__", "setdefault"):
            more = 1
        more = 0 if name in ("__getitem__", "__contains__", "__delitem__") else int(more)
        arguments = [rng.choice(all_keys), *(rng.choice(all_values) for _ in range(more))]
        found = outcome(getattr(quick, name), *arguments)
        assert same(found, outcome(getattr(OneKey, name), plain, *arguments)), (name, arguments)
        odd = any(type(each) is not kind for each, kind in zip(arguments, (keys, values, values), strict=False))
        if not odd and not (type(found) is tuple and found[0] is not KeyError):
            assert same(found, outcome(of_dict[name], model, *arguments)), (name, arguments)
            taken += 1
        else:
            model = dict(plain.items())
        assert len(arguments) == 1 + more
    assert taken > 200
    assert dict(quick.items()) == dict(plain.items()) == model


@compiled
@pytest.mark.parametrize("values", [int, str, bytes])
@pytest.mark.parametrize("keys", [int, str, bytes])
def test_no_python_frame(keys, values):
    trie = Ctrie(keys=keys, values=values, arena=Arena.anonymous(64 << 20))
    key, other = OF[keys][5], OF[keys][4]
    old, new = OF[values][3], OF[values][5]
    trie[key] = old  # compiled, where there is no library
    for name in ("get", "pop", "remove", "put", "put_if_absent", "get_or_insert"):
        getattr(trie, name)(key, old)
    trie.replace(key, old, new), key in trie, trie.put(other, old), trie[other], trie.__delitem__(other)
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append(frame.f_code) if event == "call" else None)
    try:
        trie[key] = old
        found = [trie[key], key in trie, trie.get(key), trie.get(other), trie.get(other, 7), trie.put(key, new)]
        found += [trie.put_if_absent(key, old), trie.put_if_present(other, old), trie.setdefault(key, old)]
        found += [trie.get_or_insert(other, old), trie.replace(key, new, old), trie.replace(key, new, old)]
        found += [trie.remove(key, new), trie.remove(key, old), trie.pop(other), trie.pop(other, 8), trie.remove(key)]
        trie[key] = new
        del trie[key]
    finally:
        sys.setprofile(None)
    assert calls == []
    assert found == [
        old, True, old, None, 7, old, new, None, new, old, True, False, False, True, old, 8, False,
    ]  # fmt: skip


def test_a_missing_key_is_an_error_of_that_key():
    for kind, keys in OF.items():
        trie = Ctrie(keys=kind, values=int, arena=Arena.anonymous(4 << 20))
        for key in keys:
            for call in (trie.__getitem__, trie.__delitem__, trie.pop):
                with pytest.raises(KeyError) as caught:
                    call(key)
                assert caught.value.args == (key,)
    anything = Ctrie(arena=Arena.anonymous(4 << 20))
    for key in ((), (1,), (1, 2), KeyError(5), None):
        for call in (anything.__getitem__, anything.__delitem__, anything.pop):
            with pytest.raises(KeyError) as caught:
                call(key)
            assert repr(caught.value.args) == repr((key,))


CALLS = [
    ("get", (), {}), ("get", (1, 2, 3), {}), ("get", (5,), {"default": 4}), ("get", (6,), {"default": 4}),
    ("get", (5,), {"other": 4}), ("get", (), {"key": 5}), ("pop", (6,), {"default": 9}), ("pop", (), {}),
    ("pop", (1, 2, 3), {}), ("put", (5,), {"value": 8}), ("put", (), {"value": 9, "key": 5}), ("put", (5,), {}),
    ("put", (1, 2, 3), {}), ("put", (1, 2), {"value": 3}), ("put_if_absent", (6,), {"value": 1}),
    ("put_if_present", (), {"key": 6, "value": 3}), ("setdefault", (7,), {}), ("setdefault", (5,), {}),
    ("setdefault", (5,), {"default": 3}), ("setdefault", (), {}), ("replace", (5, 9), {"new": 10}),
    ("replace", (5,), {}), ("replace", (5, 1, 2, 3), {}), ("remove", (5,), {"expected": 1}), ("remove", (), {}),
    ("remove", (5, 10), {}), ("get_or_insert", (), {"key": 1, "value": 2}), ("get", tuple(range(9)), {}),
    ("put", (), dict.fromkeys("abcdefghij", 1)), ("put", (1, 2, 3, 4, 5), {"key": 1, "value": 2, "c": 3}),
]  # fmt: skip


def test_arguments_are_refused_and_named_as_in_python():
    quick, plain = ({5: 7} for _ in "ab")
    quick, plain = (Ctrie(each, keys=int, values=int, arena=Arena.anonymous(4 << 20)) for each in (quick, plain))
    for name, arguments, named in CALLS:
        found = outcome(getattr(quick, name), *arguments, **named)
        expected = outcome(getattr(OneKey, name), plain, *arguments, **named)
        if len(arguments) + len(named) <= 6:
            assert found == expected, (name, arguments, named)
        assert found == expected or found[0] is expected[0] is TypeError, (name, arguments, named)
    assert dict(quick) == dict(plain)


@pytest.mark.parametrize("name", [name for name in slots.OPERATIONS if name[0] != "_"])
def test_signatures_are_those_of_the_python_functions(name):
    shown = inspect.signature(getattr(Ctrie, name))
    written = inspect.signature(getattr(OneKey, name))
    bare = [
        [(each.name, each.kind, each.default is each.empty) for each in one.parameters.values()]
        for one in (shown, written)
    ]
    assert bare[0][1:] == bare[1][1:]  # self has no name to be passed by
    assert inspect.getdoc(getattr(Ctrie, name)) == inspect.getdoc(getattr(OneKey, name))


# subclasses, copies, references --------------------------------------------------------------------------------------


class Doubled(Ctrie):
    """Overrides some operations and calls those below."""

    def __getitem__(self, key):
        return 2 * super().__getitem__(key)

    def __setitem__(self, key, value):
        super().__setitem__(key, value + 1)

    def get(self, key, default=None):
        return super().get(key, default), "mine"

    def get_or_insert(self, key, value):
        return "inserted", super().get_or_insert(key, value)


class Below(Doubled):
    def __contains__(self, key):
        return key == "always" or super().__contains__(key)

    def __delitem__(self, key):
        super().__delitem__(key - 1)


def test_subclasses_override_and_go_up():
    trie = Below(keys=int, values=int, arena=Arena.anonymous(4 << 20))
    trie[5] = 6
    assert (trie[5], trie.get(5), "always" in trie, 5 in trie, 6 in trie) == (14, (7, "mine"), True, True, False)
    assert Ctrie.__getitem__(trie, 5) == Ctrie.get(trie, 5) == dict.fromkeys([7]).popitem()[0]
    assert trie.setdefault(5, 1) == ("inserted", 7), "as Python's MutableMapping, it calls what was overridden"
    del trie[6]
    assert 5 not in trie
    trie.update({1: 1})
    assert trie.popitem() == (1, 2)
    assert type(trie.snapshot()) is Below


class Own(Ctrie):
    def setdefault(self, key, default=None):
        return "own"

    def get_or_insert(self, key, value):
        return "inserted"


class Mixed:
    def get_or_insert(self, key, value):
        return "mixed"


class OfMixed(Mixed, Ctrie):
    __slots__ = ()


def test_setdefault_of_subclasses():
    for kind, expected in ((Own, "own"), (OfMixed, "mixed"), (type("Plain", (Ctrie,), {}), 3)):
        assert kind(keys=int, values=int, arena=Arena.anonymous(4 << 20)).setdefault(1, 3) == expected


def test_a_map_matches_patterns_and_has_weak_references():
    trie = Ctrie({"a": 1, "b": 2}, keys=str, values=int, arena=Arena.anonymous(4 << 20))
    match trie:
        case {"a": one, **rest}:
            assert (one, rest) == (1, {"b": 2})
        case _:
            raise AssertionError
    gone = weakref.ref(trie)
    del trie
    gc.collect()
    assert gone() is None


def test_a_map_takes_no_attributes_and_one_that_was_not_made_says_so():
    with pytest.raises(AttributeError):
        Ctrie(arena=Arena.anonymous(4 << 20)).other = 1
    bare = Ctrie.__new__(Ctrie)
    for call in (
        lambda: bare[5],
        lambda: 5 in bare,
        lambda: bare.__setitem__(5, 5),
        lambda: bare.__delitem__(5),
        lambda: bare.get(5),
        lambda: bare.put(5, 5),
        lambda: bare.replace(5, 5, 5),
    ):
        with pytest.raises(AttributeError, match="_store"):
            call()


def test_references_are_counted():
    """Every way out of a call, with and without an error, leaves the counts of all objects as they were."""
    texts = Ctrie(keys=str, values=str, arena=Arena.anonymous(16 << 20))
    numbers = Ctrie(keys=int, values=int, arena=texts.arena)
    key, odd, accent, value, default = "key" * 9, object(), "t\u00e9" * 9, "v\u00e9" * 9, object()
    large, small = 1 << 70, 1 << 40
    things = [key, odd, accent, value, default, large, small, None, True, False, KeyError, TypeError, LONG]

    def everything():
        for text in (key, accent):
            texts[text] = value
            texts[text] = key
            texts[text], texts.get(text), texts.get(text, default), text in texts
            texts.put(text, value), texts.put_if_absent(text, key), texts.put_if_present(text, key)
            texts.get_or_insert(text, value), texts.setdefault(text, value), texts.replace(text, key, value)
            texts.replace(text, key, value), texts.remove(text, key), texts.pop(text), texts.pop(text, default)
            texts.get_or_insert(text, value), texts.remove(text), texts.get(text, default), texts.remove(text)
            texts.put(text, accent), texts.__delitem__(text), texts.put_if_present(text, accent), texts.get(text)
        for bad in (odd, LONG, "\ud800", large):
            for call in (texts.__getitem__, texts.__contains__, texts.get, texts.pop, texts.remove, texts.__delitem__):
                outcome(call, bad)
            outcome(texts.put, key, bad), outcome(texts.put, bad, key), outcome(texts.replace, key, bad, bad)
            outcome(texts.replace, key, key, bad), outcome(texts.remove, key, bad), outcome(texts.put, key=bad)
            outcome(texts.__setitem__, key, bad), outcome(texts.setdefault, bad)
        for number in (small, large):
            for name in ("__getitem__", "__contains__", "get", "pop", "remove", "__delitem__"):
                outcome(getattr(numbers, name), number)
            outcome(numbers.put, number, number), outcome(numbers.replace, number, number, number)

    for _ in range(3):
        everything()
    gc.collect()
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(100):
        everything()
    gc.collect()
    after = [sys.getrefcount(thing) for thing in things]
    assert [b - a for b, a in zip(after, before, strict=True) if abs(b - a) > 25] == []


def test_two_maps_of_a_process_do_not_share_a_context():
    one, two = (Ctrie({1: n}, keys=int, values=int, arena=Arena.anonymous(4 << 20)) for n in (5, 6))
    assert (one[1], two[1], one.snapshot()[1]) == (5, 6, 5)


def test_a_codec_of_ones_own_is_asked():
    """A subclass of a codec of ours is somebody else's."""

    class Loud(type(Ctrie(keys=str, values=int, arena=Arena.anonymous(4 << 20))._store.keys)):
        name = "loud"

        def encode(self, value):
            return super().encode(value.upper())

    trie = Ctrie(keys=Loud(), values=int, arena=Arena.anonymous(4 << 20))
    trie["tea"] = 5
    assert trie["TEA"] == 5
    assert list(trie) == ["TEA"]


# other processes -----------------------------------------------------------------------------------------------------


def python(*arguments, **environment):
    path = [*sys.path, str(Path(__file__).parents[1] / "helpers")]
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path)} | environment,
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_plain_maps_pass_the_tests_of_maps():
    here = Path(__file__)
    run = ["-m", "pytest", "-p", "plain_map", "-p", "no:cacheprovider", "-p", "no:xdist"]
    said = python(*run, str(here.with_name("test_mapping.py")), str(here), "-k", "not plain_maps and not pass_the")
    assert "maps are plain" in said


@pytest.mark.slow
def test_compiled_maps_pass_under_the_checks_of_the_allocator():
    here = Path(__file__)
    run = ["-X", "faulthandler", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    files = [str(here.with_name(name)) for name in ("test_mapping.py", "test_full.py", "test_finalizers.py")]
    python(*run, *files, str(here), "-k", "not pass_the", PYTHONMALLOC="debug")


AT_END = """
import sys
from latchfree import Ctrie
class Late:
    def __del__(self):
        self.numbers[7] = 8
        assert self.numbers[7] == 8 and self.numbers.get(9) is None
        try: self.numbers["x"]
        except BaseException: pass
late = Late()
late.numbers = Ctrie({5: 6}, keys=int, values=int)
late.numbers["x" and 5]
sys.late, late = late, None
sys.itself = sys
"""


def test_a_map_serves_while_the_interpreter_ends():
    python("-X", "faulthandler", "-c", AT_END)


@pytest.mark.slow
def test_without_a_library_functions_are_compiled_when_called(tmp_path):
    program = """
from latchfree import Ctrie
import sys
from latchfree.ctrie.slots import Slots
assert "get" in vars(Slots)
one, two = (Ctrie(keys=str, values=int) for _ in "ab")
one["a"], two["b"] = 1, 2
assert (one["a"], two["b"], two.get("a"), one.pop("a"), "b" in two) == (1, 2, None, 1, True)
calls = []
sys.setprofile(lambda frame, event, argument: calls.append(frame.f_code) if event == "call" else None)
one["a"], two["b"] = 3, 4
found = one["a"], two["b"], two.get("a"), one.pop("a"), "b" in two
sys.setprofile(None)
assert (found, calls) == ((3, 4, None, 3, True), [])
print("numba" in sys.modules)
"""
    environment = {"LATCHFREE_COMPILED": "jit", "NUMBA_CACHE_DIR": str(tmp_path)}
    assert [python("-c", program, **environment) for _ in range(2)] == ["True\n", "False\n"]
    python("-X", "faulthandler", "-c", AT_END, **environment)


def test_a_process_that_patches_kernels_has_plain_maps():
    program = "from latchfree.jit import set_variant; set_variant('x', ('latchfree.ctrie',)); "
    program += "from latchfree.ctrie.slots import Slots; print('get' in vars(Slots))"
    assert python("-c", program) == "False\n"


def test_every_operation_is_in_the_table():
    assert tuple(slots._ENTRY_OF) == slots.OPERATIONS
    assert {*slots._ENTRY_OF.values(), "traverse"} == set(slots.ENTRY_POINTS)  # that one the collector calls
    tree = ast.parse(Path(inspect.getfile(OneKey)).read_text())
    (cls,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    public = {node.name for node in cls.body if isinstance(node, ast.FunctionDef)}
    assert {name for name in public if name[0] != "_" or name[:2] == "__"} == set(slots.OPERATIONS)
