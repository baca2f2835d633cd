"""Build the libraries of compiled functions with the wheel, or beside the sources of an editable installation.

Without a linker the packages are as they were: numba compiles each function when it is first called.
"""

import multiprocessing
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Set to 0: no library is built.
SETTING = "LATCHFREE_BUILD_COMPILED"
_TAGS = {"x86-64-v2": "py3-none-manylinux_2_17_x86_64", "generic-aarch64": "py3-none-manylinux_2_17_aarch64"}
_SOURCES = ("support", "impl", "model", "lincheck")
#: Each library: where it stands, and where the calls are that it is made of.
_LIBRARIES = (
    ("latchfree.native.library:LATCHFREE", "latchfree.libraries.tables:BORDERS"),
    ("latchfree_lincheck.native:LINCHECK", "latchfree_lincheck.engine.border:BORDERS"),
)


class Compile(BuildHookInterface):
    """Makes the libraries before files are collected."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the libraries, and have them packed; a wheel with a library is for one platform."""
        if self.target_name != "wheel" or os.environ.get(SETTING) == "0":
            return
        sys.path[:0] = [str(Path(self.root, source)) for source in _SOURCES]
        from latchfree.libraries import build
        from latchfree_support import library_keys

        processor = library_keys.processor()
        if processor is None:
            self.app.display_info("latchfree: no library is made for this system; functions are compiled when called")
            return
        try:
            build.linker()
        except build.NoLinker as error:
            self.app.display_warning(f"latchfree: {error}; without it functions are compiled when called")
            return
        missing = [names for names in _LIBRARIES if _found(names[0]).load() is None]
        if missing:
            self.app.display_waiting("latchfree: compiling, about a minute")
        self._make(missing)
        files = [_found(library).file() for library, _ in _LIBRARIES]
        build_data["artifacts"] += [f"/{file.relative_to(self.root).as_posix()}" for file in files if file.exists()]
        build_data["pure_python"] = False
        build_data["tag"] = _TAGS[processor]

    def _make(self, missing: list[tuple[str, str]]) -> None:
        """Make libraries, each in a process of its own, beside each other.

        The processes are forked: what a new interpreter has on its path is up to whoever installs. (pip takes every
        folder from it that the environment has already, such as those of an editable installation.)
        """
        fork = multiprocessing.get_context("fork")
        started = [fork.Process(target=_make_one, args=names) for names in missing]
        for process in started:
            process.start()
        for process in started:
            process.join()
        if any(process.exitcode for process in started):
            self.app.display_warning(
                "latchfree: a library could not be made, see above; its functions are compiled when called"
            )


def _found(name: str) -> Any:
    """Return what a name of the form ``module:attribute`` stands for."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def _make_one(library: str, borders: str) -> None:
    """Make a library of the calls of borders, both named as by `_LIBRARIES`."""
    from latchfree.libraries.build import make

    make(_found(library), _found(borders), lambda done, of: None)
