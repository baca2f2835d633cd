"""A Python for workers in which nothing of ours is installed, and wheels to bring it."""

import sys
import zipfile
from pathlib import Path

SITE = """
import sys
from importlib.machinery import PathFinder

installed = set(sys.path)


class Hidden:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if path is not None or not name.startswith("latchfree"):
            return None
        found = PathFinder.find_spec(name, [each for each in sys.path if each not in installed])
        if found is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found


sys.meta_path.insert(0, Hidden)
"""


def bare_python(folder):
    """Return a Python that has what is installed, but for our packages; it imports them from folders added later."""
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(SITE)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{folder / "site"}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return python


def wheel(folder, name, contents):
    """Return a wheel of plain Python: a zip archive of the contents, by their names, and of what describes it."""
    path = folder / f"{name}-py3-none-any.whl"
    about = f"{name}.dist-info"
    distribution, _, version = name.partition("-")
    with zipfile.ZipFile(path, "w") as packed:
        for entry, content in contents.items():
            packed.writestr(entry, content)
        packed.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        packed.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    return path


def sources(package):
    """Return the files of a package by their names in a wheel."""
    home = Path(sys.modules[package].__file__).parent
    return {
        str(file.relative_to(home.parent)): file.read_bytes()
        for file in sorted(home.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    }
