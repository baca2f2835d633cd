"""What cannot be explored is refused with its name and a fix; what ends a call is told."""

import asyncio
import concurrent.futures
import functools
import importlib
import sys
import types
from concurrent.futures import ProcessPoolExecutor

import pytest

pytest.importorskip("greenlet")

import shared_objects as so

from latchfree_explore import CannotControl, explore_async, explore_object, explore_threads
from latchfree_explore.python import code
from latchfree_explore.python.given.making import CannotMake
from latchfree_explore.python.replays import find_class
from latchfree_model.models.map import MapModel


def explored(*threads, **options):
    return explore_threads(*threads, raises=False, strategy="dpor", **options)


async def coroutine(*given):
    raise AssertionError("nobody runs this")


def generator(*given):
    yield


async def asynchronous(*given):
    yield


LATER = [coroutine, generator, asynchronous, functools.partial(coroutine, 1)]


@pytest.mark.parametrize("later", LATER)
def test_what_does_nothing_when_it_is_called_is_no_thread_and_no_check(later):
    for given in ({"check": later}, {"setup": later}):
        with pytest.raises(TypeError, match="must be an ordinary function, got a"):
            explored(lambda: None, **given)
    with pytest.raises(TypeError, match="a thread must be an ordinary function"):
        explored(later)
    with pytest.raises(TypeError, match="check must be an ordinary function"):
        explore_async(coroutine, check=later)


@pytest.mark.parametrize("later", [coroutine, generator, asynchronous])
def test_what_returns_such_a_thing_is_refused_when_it_does(later):
    with pytest.raises(CannotControl, match=r"thread 1 returned a .*, which nobody runs"):
        explored(lambda: None, lambda: later())
    with pytest.raises(CannotControl, match=r"the check returned a .*, which nobody runs"):
        explored(lambda: None, check=lambda: later())


def test_main_must_return_a_coroutine():
    with pytest.raises(CannotControl, match="main returned a NoneType, not a coroutine"):
        explore_async(lambda: None)


def test_a_check_without_a_truth_is_broken():
    class Doubtful:
        def __bool__(self):
            raise ZeroDivisionError("no truth")

    result = explored(lambda: None, check=Doubtful)
    assert "the check raised ZeroDivisionError: no truth" in result.wrong.message


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("-inf")])
def test_no_time_is_no_limit(timeout):
    with pytest.raises(ValueError, match="timeout must be above 0 seconds"):
        explored(lambda: None, timeout=timeout)


@pytest.mark.parametrize("timeout", ["1", b"1", True, [], object()])
def test_a_limit_is_a_number(timeout):
    for call in (
        lambda: explored(lambda: None, timeout=timeout),
        lambda: explore_async(coroutine, timeout=timeout),
        lambda: explore_object(so.LockedMap, "get(0)", timeout=timeout),
    ):
        with pytest.raises(TypeError, match="timeout must be a number of seconds"):
            call()


def test_a_search_that_is_cut_short_is_never_ok():
    threads = [lambda it: it.increment()] * 2
    for strategy in ("auto", "dpor", "random", "pct", "bounded"):
        result = explore_threads(*threads, setup=so.Counter, timeout=1e-9, strategy=strategy)
        assert (result.verdict, result.schedules) == ("unknown", 0), strategy
    result = explore_threads(*threads, setup=so.Counter, schedules=1)
    assert (result.verdict, result.complete) == ("unknown", False)


@pytest.mark.parametrize("include", ["numpy", b"numpy", None, 1.5, [1]])
def test_packages_are_named_in_a_sequence(include):
    with pytest.raises(TypeError, match="include must be a sequence of names of packages"):
        explored(lambda: None, include=include)


def test_packages_must_be_there():
    with pytest.raises(ValueError, match=r"there is no package 'no_such_package_here.inner'"):
        explored(lambda: None, include=["no_such_package_here.inner"])


def test_wrong_kinds_are_named():
    with pytest.raises(ValueError, match=r"there is no strategy \[\]"):
        explore_threads(lambda: None, strategy=[])
    with pytest.raises(TypeError, match="model must be a model or the name of one, got NoneType"):
        explore_object(so.LockedMap, "get(0)", model=None)
    with pytest.raises(ValueError, match="methods: the model 'map' has no operation 'pop'"):
        explore_object(so.LockedMap, "get(0)", methods={"pop": "remove"})
    with pytest.raises(TypeError, match="on_progress must be a function"):
        explore_object(so.LockedMap, "get(0)", on_progress=1)


class Leaves:
    def add(self, amount):
        sys.exit(3)


class LeavesLater(Leaves):
    async def add(self, amount):
        sys.exit(3)


def test_a_call_that_ends_the_program_is_wrong():
    result = explore_object(Leaves, "add(1)", model="counter", raises=False)
    assert result.wrong.kind == "exception"
    assert "add raised SystemExit(3)" in result.wrong.message
    result = explore_object(LeavesLater, "add(1)", model="counter", raises=False)
    assert result.wrong.kind == "exception"
    assert "SystemExit(3)" in result.wrong.message


class NeedsMore:
    def __init__(self, size):
        self.size = size

    def read(self):
        return 0


class Breaks(NeedsMore):
    def __init__(self):
        raise OSError("no disk")


class Exits(NeedsMore):
    def __init__(self):
        sys.exit()


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (NeedsMore, r"NeedsMore\(\) raised TypeError: .*'size'; fix: give a function that makes one"),
        (Breaks, r"Breaks\(\) raised OSError: no disk"),
        (Exits, r"Exits\(\) raised SystemExit"),
    ],
)
def test_an_object_that_cannot_be_made_is_no_defect(kind, says):
    with pytest.raises(CannotMake, match=says):
        explore_object(kind, "read()", model="counter")
    assert explore_object(lambda: NeedsMore(1), "read()", model="counter").verdict == "ok"


def test_there_is_one_exploration_at_a_time():
    def inside():
        explore_threads(lambda: None)

    result = explored(inside)
    assert "an exploration is in progress in this process" in result.wrong.message
    with code._ALONE, pytest.raises(RuntimeError, match="an exploration is in progress"):  # as if in another thread
        explore_threads(lambda: None)
    assert explore_threads(lambda: None).verdict == "ok"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = (", r"importing stranger failed: SyntaxError: .* \(stranger.py, line 1\)"),
        ("import no_such_module_at_all", "importing stranger failed: No module named 'no_such_module_at_all'"),
        ("raise ZeroDivisionError('at once')", "importing stranger failed: ZeroDivisionError: at once"),
        ("import sys; sys.exit(0)", "importing stranger failed: SystemExit: 0"),
        ("Other = 1", r"'stranger' \(.*stranger.py\) has no 'Class'"),
        ("Class = 1", "stranger:Class is no class or function"),
    ],
)
def test_what_cannot_be_imported_is_named(text, says, tmp_path, monkeypatch):
    (tmp_path / "stranger.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "stranger", raising=False)
    with pytest.raises(ValueError, match=says):
        find_class("stranger:Class")


@pytest.mark.parametrize("target", ["", ":", "box", ":Box", "box:", ".box:Box", "a b:C", "box:1"])
def test_a_target_is_a_module_and_a_name(target):
    with pytest.raises(ValueError, match="is no MODULE:NAME, such as cache:Cache"):
        find_class(target)
    with pytest.raises(ValueError, match=r"there is no module 'no_such_module' on sys.path, nor in"):
        find_class("no_such_module:Box")


def test_a_check_that_exits_does_not_hold():
    result = explore_threads(lambda: None, check=lambda: sys.exit(0), raises=False)
    assert result.verdict == "violation"
    assert result.reason.startswith("invariant: the check raised SystemExit: 0, at test_refusals.py")


def test_a_setup_that_exits_is_refused():
    with pytest.raises(CannotMake, match=r"setup raised SystemExit\(3\)"):
        explore_threads(lambda shared: None, setup=lambda: sys.exit(3))


@pytest.mark.parametrize(
    ("given", "options", "says"),
    [
        (5, {}, r"scenario is text, such as .* not int"),
        (b"get(0)", {}, r"scenario is text, .* not bytes"),
        (["get(0)"], {}, r"scenario is text, .* not list"),
        ("get(0)", {"model": MapModel}, r"got the class MapModel; fix: MapModel\(\)"),
        ("get(0)", {"model": types.SimpleNamespace(operations={"get": 1})}, "which has no 'name'"),
        ("get(0)", {"timeout": 10**400}, "timeout is more seconds than a float can be"),
        ("get(0)", {"include": ["latchfree_explore"]}, "latchfree_explore is the explorer's own"),
        ("get(0)", {"include": ["threading"]}, "threading is under control as it is"),
        ("get(0)", {"include": ["json.zork"]}, "no package 'json.zork'"),
        ("get(0)", {"include": ["json.decoder.zork"]}, "no package 'json.decoder.zork'"),
    ],
)
def test_arguments_that_make_no_sense_are_named(given, options, says):
    with pytest.raises((TypeError, ValueError), match=says):
        explore_object(so.LockedMap, given, **options)


class Loud(Exception):
    def __str__(self):
        raise KeyError("no text")


def in_two_lines():
    raise ValueError("first\n   second")


def without_text():
    raise Loud


def test_an_exception_is_told_in_a_line_with_its_place():
    message = explored(in_two_lines).wrong.message
    line = in_two_lines.__code__.co_firstlineno + 1
    assert message == f"thread 0 raised ValueError: first second, at test_refusals.py:{line} in in_two_lines"
    assert "raised Loud: <its text raises KeyError>, at test_refusals.py" in explored(without_text).wrong.message

    def check():
        raise AssertionError("one\ntwo")

    assert "one two" in explored(print, check=check).reason


async def runs_in_a_process():
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        await asyncio.get_running_loop().run_in_executor(pool, int)


def runs_in_processes():
    with ProcessPoolExecutor(1) as pool:
        pool.submit(int)


def test_pools_of_processes_are_refused_by_name():
    for refused in (
        lambda: explored(runs_in_processes),
        lambda: explore_async(runs_in_a_process),
    ):
        with pytest.raises(CannotControl, match="ProcessPoolExecutor runs processes of the system; fix: use"):
            refused()


def test_a_module_with_two_names_is_no_other_module(tmp_path, monkeypatch):
    """The import of multiprocessing has `__main__` known as `__mp_main__`, too."""
    text = f"import sys\nsys.modules['of_two_names'] = sys.modules[{__name__!r}]\n"
    (tmp_path / "gives_a_second_name.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    own = sys.modules[__name__]
    for name in ("of_two_names", "gives_a_second_name"):
        monkeypatch.setitem(sys.modules, name, own)  # so that both are gone afterwards
        del sys.modules[name]
    assert explored(lambda: importlib.import_module("gives_a_second_name")).verdict == "ok"
    assert sys.modules["of_two_names"] is sys.modules[__name__] is own
