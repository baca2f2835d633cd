"""The two ways to judge files of histories: the fast lane and the ordinary path; and the command in a fresh process."""

import io
import re
import subprocess
import sys
from contextlib import redirect_stdout

import pytest
from cli_processes import environment

from latchfree_cli.histories import lane, lane_logs
from latchfree_cli.histories.checking import Request, check_files
from latchfree_cli.histories.files import Reading
from latchfree_cli.outcomes import finish
from latchfree_cli.settings import Settings
from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.native import LINCHECK

needs_library = pytest.mark.skipif(LINCHECK.load() is None, reason="no library was built, or it is switched off")


def functions():
    """Return the compiled functions without the library, which may not be there."""
    return {log.name: getattr(ENGINE, f"judge_{log.name}") for log in lane_logs.LOGS}


def plain(text):
    """Return what was printed without seconds."""
    return re.sub(r"[0-9.]+ s,", "s,", text)


def written(folder):
    """Return the files of a folder, without seconds."""
    return {
        path.relative_to(folder).as_posix(): plain(path.read_text()) for path in folder.rglob("*") if path.is_file()
    }


def by_lane(files, out, quiet=False, model=""):
    """Return what the lane says, without seconds, or None."""
    try:
        found = lane.judged([str(file) for file in files], str(out), quiet, model, functions)
    except lane.NotUsual:
        return None
    return None if found is None else (found[0], plain(found[1].decode()))


def by_ordinary_path(files, out, quiet=False, model=""):
    """Return what the ordinary path says."""
    settings = Settings(out=out, address=str(out), quiet=quiet)
    with redirect_stdout(io.StringIO()) as said:
        code = finish(settings, lambda: check_files(settings, Request(list(files), Reading(model=model or None))))
    return code, plain(said.getvalue())


def compared(files, folder, **options):
    """Judge files both ways, and return the exit code of the lane, or None if it left them to the other."""
    quick = by_lane(files, folder / "one", **options)
    if quick is None:
        assert not (folder / "one").exists()
        return None
    assert quick == by_ordinary_path(files, folder / "other", **options)
    assert written(folder / "one") == written(folder / "other")
    return quick[0]


def command(*words, before="", **options):
    """Run the command line in a process of its own; say which heavy modules it loaded, on standard error."""
    program = (
        f"import os, sys\n{before}\nend = os._exit\n"
        "def leave(code):\n"
        "    heavy = {'numpy', 'typer', 'pathlib', 're', 'ctypes', 'typing'} & {*sys.modules}\n"
        "    print(sorted(heavy), file=sys.stderr, flush=True)\n"
        "    end(code)\n"
        "os._exit = leave\n"
        f"sys.argv = ['latchfree', *{list(words)!r}]\nfrom latchfree_cli.main import main\nmain()\n"
    )
    options = {"capture_output": True, **options}
    return subprocess.run([sys.executable, "-S", "-c", program], text=True, check=False, env=environment(), **options)
