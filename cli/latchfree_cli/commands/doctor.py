"""``latchfree doctor``: what is installed, what is missing, and how to get it."""

import importlib.metadata
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Final

from latchfree_cli import exits
from latchfree_cli.extras import DISTRIBUTIONS
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings

CORE: Final = ("numpy", "lazy_loader")
"""The packages that the map alone needs; the others come with extras."""
MACHINES: Final = ("x86_64", "AMD64", "aarch64", "arm64")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `core` things must be there."""

    name: str
    ok: bool
    found: str
    fix: str = ""
    core: bool = True


@examples("latchfree doctor")
def doctor(settings: Settings) -> Outcome:
    """Say what is installed, what is missing, and how to get it."""
    findings = list(_findings())
    for finding in findings:
        mark = "ok     " if finding.ok else "missing"
        fix = "" if finding.ok else f"; {'fix' if finding.core else 'optional'}: {finding.fix}"
        settings.say(f"{mark}  {finding.name:<12}  {finding.found}{fix}")
    complete = all(finding.ok for finding in findings if finding.core)
    return Outcome(
        "ok" if complete else "missing",
        {"findings": [asdict(finding) for finding in findings]},
        code=exits.OK if complete else exits.TOOL,
    )


def _findings() -> Iterator[Finding]:
    from latchfree.extras import EXTRAS

    version = platform.python_version()
    yield Finding("python", sys.version_info >= (3, 11), version, "Python 3.11 or later")
    machine = f"{platform.system()} {platform.machine()}"
    supported = platform.system() == "Linux" and platform.machine() in MACHINES
    yield Finding("platform", supported, machine, "shared arenas need Linux on x86-64 or aarch64", core=False)
    yield Finding("processors", True, str(os.cpu_count() or "unknown"))
    for package in CORE:
        yield _package(package, f"pip install {package}", core=True)
    libraries = list(_libraries())
    fitting = all(library.ok for library in libraries)
    yield from libraries
    yield _cache()
    yield _tool("java", _java)
    yield _tool("tla2tools", _jar)
    yield _tool("spec", _spec)
    for module, extra in EXTRAS.items():
        needed = module == "numba" and not fitting  # functions have to be compiled
        yield _package(DISTRIBUTIONS.get(module, module), f'pip install "latchfree[{extra}]"', core=needed)


def _package(name: str, fix: str, *, core: bool) -> Finding:
    try:
        return Finding(name, True, importlib.metadata.version(name), core=core)
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, False, "not installed", fix, core)


def _libraries() -> Iterator[Finding]:
    """Yield whether the functions are there compiled, of the structures and of the checker."""
    from latchfree.native.library import LATCHFREE
    from latchfree_lincheck.native import LINCHECK

    for name, library in (("compiled", LATCHFREE), ("checker", LINCHECK)):
        fits = library.load() is not None
        yield Finding(name, fits, f"{library.file()}" if fits else library.why, "latchfree compile", core=False)


def _cache() -> Finding:
    """Return whether compiled code can be kept."""
    fix = "set $NUMBA_CACHE_DIR to a folder you can write to, else every process compiles afresh"
    try:
        from latchfree.jit import cache_root

        root = cache_root()
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root):
            return Finding("cache", True, str(root))
    except (OSError, ImportError) as error:
        return Finding("cache", False, str(error), fix)


def _tool(name: str, find: Callable[[], str]) -> Finding:
    from latchfree_model.tlc import ToolMissing

    try:
        return Finding(name, True, find(), core=False)
    except ToolMissing as error:
        found, _, fix = str(error).partition("; fix: ")
        return Finding(name, False, found, fix, core=False)


def _java() -> str:
    from latchfree_model.tlc import find_java, java_version

    java = find_java()
    return f"{java_version(java)} ({java})"


def _jar() -> str:
    from latchfree_model.tlc import find_jar

    return str(find_jar())


def _spec() -> str:
    from latchfree_model.tlc import spec_dir

    return str(spec_dir())
