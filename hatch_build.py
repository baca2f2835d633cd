"""Build the library of compiled functions with the wheel, or beside the sources of an editable installation.

Without a linker the package is as it was: numba compiles each function when it is first called.
"""

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Set to 0: no library is built.
SETTING = "LATCHFREE_BUILD_COMPILED"
_TAGS = {"x86-64-v2": "py3-none-manylinux_2_17_x86_64", "generic-aarch64": "py3-none-manylinux_2_17_aarch64"}


class Compile(BuildHookInterface):
    """Makes the library before files are collected."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the library, and have it packed; a wheel with a library is for one platform."""
        if self.target_name != "wheel" or os.environ.get(SETTING) == "0":
            return
        for folder in ("support", "impl"):
            sys.path.insert(0, str(Path(self.root, folder)))
        from latchfree.native import build, key, made
        from latchfree.native.library import LATCHFREE

        processor = key.processor()
        if processor is None:
            self.app.display_info("latchfree: no library is made for this system; functions are compiled when called")
            return
        try:
            build.linker()
        except build.NoLinker as error:
            self.app.display_warning(f"latchfree: {error}; without it functions are compiled when called")
            return
        file = LATCHFREE.file()
        assert file is not None
        if LATCHFREE.load() is None:
            self.app.display_waiting("latchfree: compiling, about a minute")
            made.make(self._report)
        build_data["artifacts"].append(f"/{file.relative_to(self.root).as_posix()}")
        build_data["pure_python"] = False
        build_data["tag"] = _TAGS[processor]

    def _report(self, done: int, of: int) -> None:
        if done % 20 == 0:
            self.app.display_info(f"  {done} of {of} functions")
