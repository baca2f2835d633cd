"""What holds in the standard library of each installed version of Python: the page's table is what is found."""

import json
import re
import subprocess
import threading
from pathlib import Path

import pytest

pytest.importorskip("greenlet")

import library_facts
from interpreters import prepared

from latchfree_explore import explore_threads

PAGE = Path(__file__).parents[3] / "docs" / "exploring-gallery.md"
VERSIONS = ("3.11", "3.12", "3.13")
CHEAP = {
    "queue: join() returns when all is done": "holds",
    "queue: not empty(), so get_nowait() succeeds": "exception",
    "concurrent.futures: wait(FIRST_COMPLETED) returns one that is done": "holds",
    "concurrent.futures: a pool with an idle worker starts no other": "invariant",
}


def table():
    """Return what the page says: for each version of Python, the cell of each program."""
    lines = PAGE.read_text(encoding="utf-8").split("## The standard library\n")[1].split("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    head, *body = rows
    return {version: {row[0]: row[1 + at] for row in body} for at, version in enumerate(head[1:])}


def cell(verdicts):
    """Return a cell: the verdict of both models, once if it is the same."""
    return ", ".join(dict.fromkeys(verdict if re.match("[a-z]", verdict) else "holds" for verdict in verdicts))


def test_the_page_names_each_program():
    assert len(table()) > 1
    for programs in table().values():
        assert list(programs) == list(library_facts.FACTS)


@pytest.mark.parametrize(("name", "said"), CHEAP.items())
def test_a_program_of_this_version(name, said):
    explore = library_facts.FACTS[name]
    assert cell([library_facts.told(explore(switches)) for switches in ("free", "gil")]) == said


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_the_table_is_what_is_found(version, tmp_path):
    python, environment = prepared(version, tmp_path)
    done = subprocess.run(
        [python, library_facts.__file__], capture_output=True, text=True, env=environment, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if found["python"] not in table():
        pytest.skip(f"the page has no column for Python {found['python']}")
    for name, said in table()[found["python"]].items():
        assert said == (cell(found["found"][name]) if name in found["found"] else "-"), name


class Workers:
    thread = None

    def makes_a_daemon(self):
        self.thread = threading.Thread(target=int)
        self.thread.daemon = True

    def is_a_daemon(self):
        return self.thread is None or self.thread.daemon

    def begins(self):
        self.thread = threading.Thread(target=int)
        self.thread.start()

    def has_begun(self):
        return self.thread is None or self.thread.ident is not None


def starts_one_named():
    thread = threading.Thread(target=int, name="of the program")
    thread.start()
    thread.join()


def sees_nobody():
    return "of the program" not in [thread.name for thread in threading.enumerate()]


def renames():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(threading.current_thread().name), name="old")
    thread.start()
    thread.name = "new"
    thread.join()
    return seen == ["old"]


def asserts(function):
    def thread(*arguments):
        assert function(*arguments)

    return thread


@pytest.mark.parametrize("strategy", ["dpor", "auto", "bounded"])
@pytest.mark.parametrize(
    ("threads", "setup"),
    [
        ([Workers.makes_a_daemon, asserts(Workers.is_a_daemon)], Workers),
        ([Workers.begins, asserts(Workers.has_begun)], Workers),
        ([starts_one_named, asserts(sees_nobody)], None),
        ([asserts(renames)], None),
    ],
)
def test_what_is_asked_of_threads_is_a_step(threads, setup, strategy):
    assert explore_threads(*threads, setup=setup, strategy=strategy, raises=False).wrong.kind == "exception"
