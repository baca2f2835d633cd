"""Have the inner parts of the explorer compiled by mypyc: the same sources as machine code, for whoever asks for it.

``python -m latchfree_explore.python.compiling`` makes an extension in the cache folder, which is imported in place of
the sources from then on (`extension`). It needs mypy and a C compiler.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Final

from latchfree_explore.python.extension import HERE, MODULES, folder
from latchfree_support.publishing import published_folder

_IMPORTED: Final = ("latchfree", "latchfree_support", "latchfree_model", "latchfree_lincheck")


class CannotCompile(RuntimeError):
    """The extension was not made; the message says why."""


def compile_explorer() -> Path:
    """Make the extension, if there is none; return its folder.

    Raises
    ------
    CannotCompile
        If mypyc or the C compiler is not there, or fails.
    """
    made = folder()
    if made.is_dir():
        return made
    if importlib.util.find_spec("mypyc") is None:
        raise CannotCompile("there is no mypyc; fix: pip install mypy setuptools")
    made.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="latchfree-explorer-") as name:
        work = Path(name)
        shutil.copytree(HERE.parent, work / "latchfree_explore", ignore=shutil.ignore_patterns("__pycache__"))
        files = [f"latchfree_explore/python/{each}.py" for each in MODULES]
        packages = [str(Path(import_module(each).__file__ or "").parents[1]) for each in _IMPORTED]
        done = subprocess.run(
            [sys.executable, "-m", "mypyc", "--ignore-missing-imports", "--follow-imports=silent", *files],
            cwd=work,
            env={**os.environ, "MYPYPATH": os.pathsep.join(packages), "CFLAGS": "-O2"},
            capture_output=True,
            text=True,
            check=False,
        )
        shared = list(work.glob("*__mypyc.*"))
        if done.returncode or not shared:
            raise CannotCompile(f"mypyc failed:\n{(done.stdout + done.stderr)[-2000:]}")
        suffix = str(sysconfig.get_config_var("EXT_SUFFIX"))
        with suppress(FileExistsError), published_folder(made) as ready:  # somebody else may have made it meanwhile
            for each in work.glob("latchfree_explore/python/*/*" + suffix):
                (ready / each.parent.name).mkdir(exist_ok=True)
                shutil.move(each, ready / each.parent.name)
            shutil.move(shared[0], ready)
    return made


if __name__ == "__main__":
    try:
        print(compile_explorer())
    except CannotCompile as error:
        sys.exit(str(error))
