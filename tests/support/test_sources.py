"""The digest of what a kernel can reach: which edits change it, and when there is none."""

import importlib
import os
import sys
import textwrap
import time
import zipfile

import pytest

from latchfree_support import sources
from latchfree_support.sources import digest_of, reached_from
from latchfree_support.statements import Statement, statements

#: For each way to import: the module with the kernel, the files beside it, and the file of which an edit is seen.
WAYS = {
    "a name": ("from mine.callee import f", {}, "callee"),
    "a name under another": ("from mine.callee import f as g", {}, "callee"),
    "relative": ("from .callee import f", {}, "callee"),
    "a module, relative": ("from . import callee", {}, "callee"),
    "a module": ("import mine.callee", {}, "callee"),
    "a module under another name": ("import mine.callee as c", {}, "callee"),
    "several modules": ("import os, mine.callee as c, sys", {}, "callee"),
    "a star": ("from mine.callee import *", {}, "callee"),
    "a star of a package": ("from mine.sub import *", {"sub/__init__": '__all__ = ["x"]', "sub/x": ""}, "sub/x"),
    "brackets": (
        "from mine.callee import (\n    f,  # the (first\n    g,\n)\nfrom mine.other import h",
        {"other": ""},
        "other",
    ),
    "a comment with a bracket": ("from mine import (\n    other,  # one)\n    callee,\n)", {"other": ""}, "callee"),
    "a backslash": ("from mine.callee \\\n    import f", {}, "callee"),
    "a backslash in a list": ("from mine import other, \\\n    callee", {"other": ""}, "callee"),
    "after a semicolon": ("x = 1; from mine.callee import f", {}, "callee"),
    "before a semicolon": ("from mine.callee import f; x = 1", {}, "callee"),
    "on the line of an if": ("if True: from mine.callee import f", {}, "callee"),
    "in a try": ("try:\n    from mine.callee import f\nexcept ImportError:\n    f = None", {}, "callee"),
    "on the line of a try": ("try: import mine.callee as c\nexcept ImportError: pass", {}, "callee"),
    "where another is missing": (
        "try:\n    import not_there as c\nexcept ImportError:\n    from . import callee",
        {},
        "callee",
    ),
    "in a function": ("def late():\n    from mine.callee import f\n    return f", {}, "callee"),
    "in a match": ("match 1:\n    case 1:\n        from mine.callee import f", {}, "callee"),
    "in a with": ("with open(__file__):\n    from mine.callee import f", {}, "callee"),
    "after a form feed": ("\x0cfrom mine.callee import f", {}, "callee"),
    "with tabs": ("from\tmine.callee\timport\tf", {}, "callee"),
    "without spaces": ("from .callee import(f)", {}, "callee"),
    "lines of Windows": ("import os\r\nfrom mine.callee import f\r\n", {}, "callee"),
    "lines of an old Mac": ("import os\rfrom mine.callee import f\r", {}, "callee"),
    "another encoding": ("# coding: latin-1\nname = 'Zo\xeb'\nfrom mine.callee import f", {}, "callee"),
    "beside types": ("if TYPE_CHECKING:\n    import os\nelse:\n    from mine.callee import f", {}, "callee"),
    "types that are not": ("TYPE_CHECKING = True\nif TYPE_CHECKING:\n    from mine.callee import f", {}, "callee"),
    "types in a text": ('def f():\n    """\nif TYPE_CHECKING:\n    """\n    from mine.callee import f', {}, "callee"),
    "by name": ('from importlib import import_module\nc = import_module("mine.callee")', {}, "callee"),
    "by a name that is chosen": ("import importlib\nc = importlib.import_module(f'mine.{1}')", {}, "callee"),
    "by __import__": ("c = __import__('mine.callee')", {}, "callee"),
    "what a text imports": ("exec('from mine.callee import f')", {}, "callee"),
    "through a module": ("from mine.other import f", {"other": "from mine.callee import f"}, "callee"),
    "through a package": ("from mine.sub import f", {"sub/__init__": "from .x import f", "sub/x": ""}, "sub/x"),
    "a package": ("import mine.sub", {"sub/__init__": "", "sub/x": ""}, "sub/x"),
    "a package from a package": ("from mine import sub", {"sub/__init__": "", "sub/x": ""}, "sub/x"),
    "a name handed on lazily": (
        "from mine.sub import SEVEN",
        {"sub/__init__": "def __getattr__(name): ...", "sub/x": "SEVEN = 7"},
        "sub/x",
    ),
    "a folder without __init__": ("from mine.space import x", {"space/x": ""}, "space/x"),
    "a folder beside a file": ("from mine.both import f", {"both": "", "both/__init__": ""}, "both/__init__"),
    "a circle": (
        "from mine.one import f",
        {"one": "from mine import two", "two": "from mine import one, callee"},
        "callee",
    ),
    "a module of another program": ("import helper_of_ours", {"../helper_of_ours": ""}, "../helper_of_ours"),
    "a name of the standard library": ("import graphlib", {"../graphlib": ""}, "../graphlib"),
    "a namespace": ("from space_of_ours import x", {"../space_of_ours/x": ""}, "../space_of_ours/x"),
}


def forget():
    """Forget the sources that this process has read."""
    for known in (sources._texts, sources._edges, sources._known):
        known.clear()
    sources._is_standard.cache_clear()


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Write files of a package `mine`; return a function that tells the digest of ``mine.kernels``."""
    monkeypatch.syspath_prepend(tmp_path)
    home = tmp_path / "mine"

    def write(files):
        for name, text in {"__init__": "", "callee": "", **files}.items():
            file = home / f"{name}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode("latin-1" if "latin-1" in text else "utf-8"))
        importlib.invalidate_caches()
        return lambda: digest_of("mine.kernels", home / "kernels.py")

    yield write
    forget()
    for module in [name for name in sys.modules if name.split(".")[0] in ("mine", "helper_of_ours")]:
        del sys.modules[module]


@pytest.mark.parametrize("way", WAYS)
def test_an_edit_of_what_is_imported_is_seen(way, tree, tmp_path, monkeypatch):
    statement, files, edited = WAYS[way]
    if edited.endswith("graphlib"):
        monkeypatch.delitem(sys.modules, "graphlib", raising=False)
    digest = tree({**files, "kernels": statement + "\n"})
    before = digest()
    assert len(before) == 16
    assert digest() == before
    file = tmp_path / "mine" / f"{edited}.py"
    file.write_text(file.read_text() + "\nX = 1\n")
    assert digest() not in ("", before)


@pytest.mark.parametrize(
    "statement",
    [
        "import os",
        "from mine.other import f",
        "from mine import other",
        "import mine.other as other",
        "if TYPE_CHECKING:\n    from mine.callee import f\n",
        "import typing\nif typing.TYPE_CHECKING:\n    from mine.callee import f\n",
        "from latchfree.jit import kernel",
        "from numba import njit",
    ],
)
def test_an_edit_of_what_is_not_imported_is_not_seen(statement, tree, tmp_path):
    digest = tree({"other": "", "kernels": statement + "\n"})
    before = digest()
    tmp_path.joinpath("mine", "callee.py").write_text("X = 1\n")
    assert digest() == before != ""


def test_a_stub_tells_where_a_lazy_name_is(tree, tmp_path):
    digest = tree(
        {
            "kernels": "from mine.sub import f\n",
            "sub/__init__": "__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)\n",
            "sub/x": "",
            "sub/page": "",
        }
    )
    tmp_path.joinpath("mine/sub/__init__.pyi").write_text("from .x import f\n")
    before = digest()
    tmp_path.joinpath("mine/sub/page.py").write_text("X = 1\n")
    assert digest() == before
    tmp_path.joinpath("mine/sub/x.py").write_text("X = 1\n")
    assert digest() != before


def test_links_are_followed_as_python_follows_them(tree, tmp_path):
    digest = tree({"kernels": "from .linked import f\n", "two": ""})
    real = tmp_path / "elsewhere"
    real.mkdir()
    real.joinpath("start.py").write_text("from .inner import f\n")
    real.joinpath("inner.py").touch()
    linked = tmp_path / "mine" / "linked"
    linked.mkdir()
    linked.joinpath("__init__.py").symlink_to(real / "start.py")
    linked.joinpath("inner.py").symlink_to(real / "inner.py")
    before = digest()
    real.joinpath("inner.py").write_text("X = 1\n")
    assert digest() not in ("", before)


def test_nothing_can_be_told_of_an_archive(tree, tmp_path, monkeypatch):
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("helper_of_ours.py", "def f(): ...\n")
    monkeypatch.syspath_prepend(archive)
    assert tree({"kernels": "from helper_of_ours import f\n"})() == ""


def test_nothing_can_be_told_of_a_relative_import_without_a_package(tree, tmp_path):
    tree({"kernels": "from .callee import f\n"})
    assert digest_of("__main__", tmp_path / "mine" / "kernels.py") == ""
    assert digest_of("kernels", tmp_path / "mine" / "kernels.py") == ""


@pytest.mark.parametrize("broken", ["x = import\n", "import\0os\n", "# coding: no-such-code\n"])
def test_nothing_can_be_told_of_what_is_not_python(broken, tree):
    assert tree({"kernels": "from mine.callee import f\n", "callee": broken})() == ""


def test_a_missing_file_is_no_error(tree, tmp_path):
    digest = tree({"kernels": "from mine.callee import f\n"})
    assert digest()
    tmp_path.joinpath("mine/callee.py").unlink()
    assert digest() == ""
    assert digest_of("mine.nothing", tmp_path / "mine" / "nothing.py") == ""


def test_a_source_that_changed_after_it_was_loaded_gives_no_digest(tree, tmp_path):
    """Nobody can tell then which code runs, so code is compiled and not kept."""
    digest = tree({"kernels": "from mine.callee import f\n", "callee": "f = 1\n"})
    assert digest()
    importlib.import_module("mine.callee")
    assert digest() == "", "written after this process began, and loaded: it may have been edited in between"
    assert digest_of("mine.kernels", tmp_path / "mine" / "kernels.py", str(tmp_path)), "unless nobody edits it"


def test_a_source_that_is_older_than_the_process_is_as_loaded(tree, monkeypatch, tmp_path):
    digest = tree({"kernels": "from mine.callee import f\n", "callee": "f = 1\n"})
    importlib.import_module("mine.callee")
    monkeypatch.setattr(sources, "_BEGAN", tmp_path.joinpath("mine/callee.py").stat().st_ctime_ns)
    assert digest()


def test_an_installed_package_counts_by_its_installation(tree, tmp_path, monkeypatch):
    installed = tmp_path / "installed"
    monkeypatch.syspath_prepend(installed)
    monkeypatch.setattr(sources, "_INSTALLED", (f"{installed}/",))
    home = installed / "helper_of_ours"
    digest = tree({"kernels": "from helper_of_ours import f\n"})
    missing = digest()
    home.mkdir(parents=True)
    home.joinpath("__init__.py").write_text("VERSION = 1\n")
    importlib.invalidate_caches()
    forget()
    first = digest()
    os.utime(home / "__init__.py", ns=(1, 1))
    forget()
    assert len({missing, first, digest()}) == 3


def test_the_order_of_loading_makes_no_difference(tree, tmp_path):
    files = {
        "kernels": "from mine import one\n",
        "one": "from mine.kernels import f\nfrom mine import two\n",
        "two": "",
    }
    digest = tree(files)
    expected = digest()
    forget()
    digest_of("mine.one", tmp_path / "mine" / "one.py")
    assert digest() == expected


def test_this_process_began_before_now():
    began = sources._began()
    assert abs(began - sources._BEGAN) < 20_000_000, "as the clock ticks"
    assert began < time.time_ns()


@pytest.mark.parametrize("name", ["latchfree.words", "latchfree_lincheck.engine.decide_many"])
def test_plain_sources_are_read_as_a_parser_reads_them(name):
    file = importlib.import_module(name).__file__
    for source in reached_from(name, importlib.import_module("pathlib").Path(file)).values():
        content = source.read_bytes()
        parsed = statements(b"# coding: utf-8\n" + content)  # which is parsed, as no fast way reads it
        assert set(statements(content)) == set(parsed), source


def test_statements():
    text = """
        import a.b, c as d  # e
        from .. import f, g as h
        from i import *
    """
    assert statements(textwrap.dedent(text).encode()) == (
        Statement("..", "f"),
        Statement("..", "g"),
        Statement("i", "*"),
        Statement("a.b", "", "a"),
        Statement("c", "", "c"),
    )
