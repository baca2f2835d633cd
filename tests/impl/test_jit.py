"""The cache of compiled code: where it is, that it is never stale, and that it can be missing."""

import ctypes
import os
import re
import resource
import subprocess
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba import types
from threads_together import together

from latchfree import jit
from latchfree.jit import cache
from latchfree.jit.lazy import variant_of
from latchfree.words import mix
from latchfree_support import sources
from latchfree_support.sources import reached_from

HOMES = [Path(module.__file__).parents[1] for module in (jit, sources)]


def python(code, cache, *paths):
    """Output of a program in a process of its own, with its own cache of compiled code."""
    path = os.pathsep.join(map(str, [*HOMES, *paths]))
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert jit.cache_root() == tmp_path / "numba" / "latchfree"
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert jit.cache_root() == tmp_path / "xdg" / "latchfree"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert jit.cache_root() == Path.home() / ".cache" / "latchfree"


def test_an_edit_of_a_callee_in_another_file_is_seen(tmp_path):
    package = tmp_path / "sources" / "mine"
    package.mkdir(parents=True)
    package.joinpath("__init__.py").touch()
    callee, caller = package / "callee.py", package / "caller.py"
    source = "from latchfree.jit import kernel\n\n@kernel\ndef answer():\n    return {}\n"
    caller.write_text(
        "from latchfree.jit import kernel\nfrom mine.callee import answer\n\n"
        "@kernel\ndef ask():\n    return answer() + 1000\n"
    )
    program = (
        "from mine.caller import ask\nanswer, stats = ask(), ask.stats\n"
        "print(answer, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))"
    )
    results = []
    for answer in (1, 1, 2):
        callee.write_text(source.format(answer))
        results.append(python(program, tmp_path / "cache", package.parent))
    assert results == ["1001 0 1", "1001 1 0", "1002 0 1"], "value, hits, misses: compiled, loaded, compiled again"


def test_an_edit_of_what_a_kernel_cannot_reach_compiles_nothing(tmp_path):
    package = tmp_path / "sources" / "mine"
    package.mkdir(parents=True)
    package.joinpath("__init__.py").write_text("from .caller import ask\n")
    page = package / "page.py"
    package.joinpath("numbers.py").write_text("import numpy as np\nSEVEN = np.int64(7)\n")
    package.joinpath("caller.py").write_text(
        "from typing import TYPE_CHECKING\nfrom latchfree.jit import kernel\n"
        "from .numbers import (\n    SEVEN,  # odd\n)\n"
        "if TYPE_CHECKING:\n    from . import page\n\n@kernel\ndef ask():\n    return SEVEN\n"
    )
    program = (
        "from mine import ask, page\nanswer, stats = ask(), ask.stats\n"
        "print(answer, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))"
    )
    results = []
    for text, seven in (("", 7), ("# a comment", 7), ("", 8)):
        page.write_text(text)
        package.joinpath("numbers.py").write_text(f"import numpy as np\nSEVEN = np.int64({seven})\n")
        results.append(python(program, tmp_path / "cache", package.parent))
    assert results == ["7 0 1", "7 1 0", "8 0 1"], "value, hits, misses: compiled, loaded, compiled again"


def test_a_name_that_a_package_hands_on_lazily_is_followed_to_its_module(tmp_path):
    package = tmp_path / "sources" / "mine"
    package.mkdir(parents=True)
    package.joinpath("__init__.py").write_text(
        "def __getattr__(name):\n    if name != 'answer':\n        raise AttributeError(name)\n"
        "    from mine.callee import answer\n    return answer\n"
    )
    package.joinpath("caller.py").write_text(
        "from latchfree.jit import kernel\nfrom mine import answer\n\n@kernel\ndef ask():\n    return answer()\n"
    )
    program = "from mine.caller import ask\nprint(ask(), sum(ask.stats.cache_hits.values()))"
    results = []
    for answer in (1, 1, 2):
        source = f"from latchfree.jit import kernel\n\n@kernel\ndef answer():\n    return {answer}\n"
        package.joinpath("callee.py").write_text(source)
        results.append(python(program, tmp_path / "cache", package.parent))
    assert results == ["1 0", "1 1", "2 0"], "value, hits"


@pytest.mark.parametrize(
    ("module", "reaches", "does_not"),
    [
        ("latchfree.ctrie.kernels.insert", "latchfree.ctrie.kernels.gcas", r"mapping|topics|errors"),
        (
            "latchfree_lincheck.engine.frontier.kernels.sweep",
            "latchfree_lincheck.engine.compiled_models.states",
            r"show|formats|checking",
        ),
        ("latchfree.ctrie.border", "latchfree.ctrie.kernels.gcas", r"mapping|engines|arena\.arena|extras"),
        (
            "latchfree_lincheck.engine.border",
            "latchfree_lincheck.history.kernels",
            r"smt|picture|decide|latchfree_model",
        ),
    ],
)
def test_what_a_kernel_of_ours_can_reach(module, reaches, does_not):
    reached = reached_from(module, Path(import_module(module).__file__).resolve())
    assert reaches in reached
    assert not [name for name in reached if re.search(does_not, name)]


def test_without_a_folder_to_write_to_it_compiles_in_every_process(tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    program = "import numpy as np\nfrom latchfree.words import mix\nprint(mix(np.uint64(7)))"
    assert python(program, blocked / "cache") == str(int(mix(np.uint64(7))))
    assert blocked.is_file()


def minded(folder, save):
    """A dispatcher whose cache, in a folder, saves as a function says."""
    stub = SimpleNamespace(
        cache_path=str(folder),
        _index_key=lambda signature, codegen: (signature,),
        load_overload=lambda signature, target: None,
        save_overload=save,
    )
    dispatcher = SimpleNamespace(_cache=stub)
    cache._mind_handles(dispatcher, foreign=True)
    return dispatcher


def test_only_one_saves_in_a_folder_at_a_time(tmp_path):
    """What numba does there, look at the index, take the next number and write, would go wrong otherwise."""
    numbers = tmp_path / "numbers"
    numbers.write_text("0")

    def save(signature, data):
        number = int(numbers.read_text())
        time.sleep(0.001)
        numbers.write_text(str(number + 1))

    def body():
        dispatcher = minded(tmp_path, save)
        for _ in range(50):
            dispatcher._cache.save_overload((), None)

    together(body, body, body)
    assert numbers.read_text() == "150"


@pytest.mark.parametrize("error", [OSError("No space left on device"), RuntimeError("no compiled object yet")])
def test_code_that_cannot_be_kept_runs_all_the_same(tmp_path, error):
    asked = []

    def save(signature, data):
        asked.append(signature)
        raise error

    dispatcher = minded(tmp_path, save)
    dispatcher._cache.save_overload((), None)
    assert asked == [()]


def test_a_function_without_a_file_is_compiled():
    namespace = {}
    exec("def double(x):\n    return 2 * x\n", namespace | {"__name__": "nowhere"}, namespace)
    assert jit.kernel(namespace["double"])(21) == 42


def test_a_handle_type_of_one_program_does_not_break_another(tmp_path):
    sources = tmp_path / "sources"
    sources.mkdir()
    sources.joinpath("handles.py").write_text(
        "from typing import Any, NamedTuple\n"
        "from numba import types\nfrom numba.extending import overload\nfrom latchfree import atomics\n"
        "class Mine(NamedTuple):\n    base: Any\n"
        "@overload(atomics.peek)\ndef _peek(mem, at):\n"
        "    mine = isinstance(mem, types.BaseNamedTuple) and mem.instance_class is Mine\n"
        "    return (lambda mem, at: atomics.peek(mem.base, at)) if mine else None\n"
    )
    program = (
        "import numpy as np\nfrom latchfree.ctrie.kernels.nodes import kind_of\n"
        "{}\nwords = np.array([5 << 60], np.uint64)\nbase = np.uint64(words.ctypes.data)\n"
        "print(kind_of({}, np.uint64(0)))"
    )
    cache = tmp_path / "cache"
    assert python(program.format("from handles import Mine", "Mine(base)"), cache, sources) == "5"
    assert python(program.format("", "base"), cache) == "5"


def test_a_variant_must_come_before_its_modules_are_loaded():
    with pytest.raises(RuntimeError, match=r"variant X needs a fresh process: latchfree\.\w+ is loaded already"):
        jit.set_variant("X", ("latchfree.words",))


def test_a_variant_has_a_cache_of_its_own(tmp_path):
    program = (
        "import sys\nfrom latchfree import jit\n{}\n"
        "from latchfree.arena.kernels.participants import claim\nfrom latchfree.ctrie.kernels.mains import find\n"
        "print(claim._cache.cache_path)\nprint(find._cache.cache_path)"
    )
    plain = python(program.format(""), tmp_path).splitlines()
    varied = python(program.format("jit.set_variant('X', ('latchfree.ctrie',))"), tmp_path).splitlines()
    assert varied[0] == plain[0]
    assert varied[1] != plain[1]


def test_a_kernel_can_be_given_the_cache_of_another_variant(tmp_path):
    program = (
        "from latchfree import jit\njit.set_variant('X', ('latchfree.ctrie',))\n"
        "from latchfree.ctrie.kernels.mains import find, new_lnode\njit.recache(find, 'Y')\n"
        "print(find._cache.cache_path)\nprint(new_lnode._cache.cache_path)"
    )
    moved, stayed = (path.split("/")[-2] for path in python(program, tmp_path).splitlines())
    assert moved.removesuffix("Y") == stayed.removesuffix("X") != moved


def test_a_handle_inside_of_a_tuple_is_the_handle_of_another_package(tmp_path):
    """Kernels take named tuples that hold the handle: code for such a handle is of the module that defines it."""

    class Mine(NamedTuple):
        base: int

    class Held(NamedTuple):
        mem: Mine
        key: int

    class OfItsOwn(types.Type):
        pass

    Held.__module__ = "latchfree.somewhere"
    mine = types.NamedUniTuple(types.uint64, 1, Mine)
    held = types.NamedTuple((mine, types.int64), Held)
    nested = types.Tuple((types.int64, types.UniTuple(held, 2)))
    for kind in (mine, held, nested, types.Optional(mine), OfItsOwn("mine")):
        assert cache._owners((types.int64, kind)) == [__name__]
    assert cache._owners((types.int64, types.UniTuple(types.uint64, 2), types.float64[:])) == []
    assert cache._owners((numba.typeof(mix),)) == ["latchfree.words"]


def test_threads_that_decorate_at_once_do_not_mix_up_their_folders(tmp_path):
    before = cache._settings.CACHE_DIR

    def body():
        for number in range(50):
            with cache._cache_dir(tmp_path / f"{threading.get_ident()}-{number}"):
                time.sleep(0)
                assert str(tmp_path / f"{threading.get_ident()}-{number}") == cache._settings.CACHE_DIR

    together(body, body, body)
    assert before == cache._settings.CACHE_DIR


def test_a_function_without_a_module_is_compiled():
    namespace = {}
    exec(compile("def double(x):\n    return 2 * x\n", __file__, "exec"), {"__builtins__": {}}, namespace)
    namespace["double"].__module__ = None
    assert variant_of(namespace["double"].__module__) == ""
    assert cache._cache_folder(namespace["double"], "") is not None


def test_asserts_that_are_left_out_make_other_code(tmp_path):
    program = "from latchfree.jit import cache; print(cache._toolchain())"
    plain, again = (python(program, tmp_path) for _ in range(2))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, HOMES)), "PYTHONDONTWRITEBYTECODE": "1"}
    for change in ({"PYTHONOPTIMIZE": "1"}, {"NUMBA_BOUNDSCHECK": "1"}, {"NUMBA_OPT": "0"}):
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment | change, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() != plain == again


def test_a_script_and_a_module_run_by_name_see_an_edit_of_what_they_import(tmp_path):
    package = tmp_path / "sources" / "mine"
    package.mkdir(parents=True)
    package.joinpath("__init__.py").touch()
    kernels = (
        "from latchfree.jit import kernel\nfrom .callee import answer\n\n@kernel\ndef ask():\n    return answer()\n"
        "print(ask(), sum(ask.stats.cache_hits.values()))\n"
    )
    package.joinpath("script.py").write_text(kernels)
    results = []
    for answer in (1, 1, 2):
        source = f"from latchfree.jit import kernel\n\n@kernel\ndef answer():\n    return {answer}\n"
        package.joinpath("callee.py").write_text(source)
        results.append(
            python("import runpy; runpy.run_module('mine.script', run_name='__main__')", tmp_path / "c", package.parent)
        )
    assert results == ["1 0", "1 1", "2 0"], "value, hits"


def _triple(x):
    return 3 * x


def _double(x):
    return 2 * x


def test_a_callback_is_compiled_without_descriptors():
    jit.callback(types.int64(types.int64), _double)  # numba imports what it needs
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        compiled = jit.callback(types.int64(types.int64), _triple)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(compiled.address)(14) == 42


def test_a_callback_is_a_c_function():
    compiled = jit.callback(types.int64(types.int64), _triple)
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(compiled.address)(14) == 42
