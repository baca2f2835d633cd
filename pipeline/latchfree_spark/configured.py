"""The settings that a user has made outside of this program, and that settings of ours must not replace.

Example: ``spark-defaults.conf`` says ``spark.master spark://head:7077``. A session without a master of its own then
runs there, not on this machine.

Spark reads them from three places: the file of defaults, the variable ``PYSPARK_SUBMIT_ARGS``, and, in a program that
spark-submit started, the virtual machine that runs already. Spark applies them itself; they are read here to know which
settings are taken. In a virtual machine that is still to be started nobody can be asked: spark-submit names a master
there even if nobody chose one.
"""

from __future__ import annotations

import ipaddress
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

_OPTIONS: Final = {
    "--master": "spark.master",
    "--remote": "spark.remote",
    "--name": "spark.app.name",
    "--driver-memory": "spark.driver.memory",
    "--driver-java-options": "spark.driver.extraJavaOptions",
}
"""Options of spark-submit that are settings."""

_SETTING: Final = re.compile(r"\s*([^\s=:#!][^\s=:]*)\s*[=:\s]\s*(.*?)\s*$")
"""A line of a file of properties, as Java reads them: a name, a separator, a value."""


def is_submitted() -> bool:
    """Return whether spark-submit started this program, in a virtual machine with its own settings."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def configured() -> Mapping[str, str]:
    """Return the settings that are made outside of this program."""
    if is_submitted():
        from pyspark import SparkConf, SparkContext

        SparkContext._ensure_initialized()
        return dict(SparkConf().getAll())
    arguments = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    given = dict(_given(arguments))
    chosen = given.pop("--properties-file", None)
    settings = dict(_lines(Path(chosen) if chosen else _defaults_file()))
    if os.environ.get("MASTER"):
        settings.setdefault("spark.master", os.environ["MASTER"])
    if os.environ.get("SPARK_REMOTE"):
        settings["spark.remote"] = os.environ["SPARK_REMOTE"]
    return {**settings, **given}


def _defaults_file() -> Path:
    folder = os.environ.get("SPARK_CONF_DIR")
    if not folder:
        from pyspark.find_spark_home import _find_spark_home

        folder = str(Path(_find_spark_home(), "conf"))
    return Path(folder, "spark-defaults.conf")


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError:
        return
    for line in text.splitlines():
        match = _SETTING.match(line)
        if match:
            yield match[1], match[2]


def _given(arguments: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the settings among the arguments of spark-submit."""
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name not in (*_OPTIONS, "--conf", "-c", "--properties-file"):
            continue
        value = value if equals else next(rest, "")
        if name in ("--conf", "-c"):
            name, _, value = value.partition("=")
        yield _OPTIONS.get(name, name), value


def is_loopback(master: str) -> bool:
    """Return whether a master and all that belongs to it run on this machine, over its loopback interface."""
    if master.startswith("local"):
        return True
    scheme, _, hosts = master.partition("://")
    return scheme in ("spark", "sc") and all(_is_local(each) for each in hosts.partition("/")[0].split(","))


def _is_local(address: str) -> bool:
    host = re.sub(r":\d*$", "", address).strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
