"""Workers that have nothing of ours: the sources are unpacked once, and compiled code is cached."""

import ast
import os
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import py4j
import pyspark
from pyspark import cloudpickle

from latchfree_spark.needs import NEEDED, here
from latchfree_spark.shipping import PACKAGES, packed
from latchfree_spark.unpacking import bootstrap

WORKER = """
import sys
import numpy as np
import pyspark
from pyspark import cloudpickle

assert not any(name.startswith("latchfree") for name in sys.modules)
pyspark.SparkFiles.get = lambda name: sys.argv[2] + "/" + name
run = cloudpickle.loads(open(sys.argv[1], "rb").read())
print(sum(1 for event in run(2 * np.arange(20_000))))  # small histories are ordered without compiled code
import latchfree_lincheck.history.order as order
print(order.__file__)
print("numba" in sys.modules)
"""

IMPORTING = """
import sys
from importlib import import_module

sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    import_module(name)
for name, module in list(sys.modules.items()):
    if name.startswith("latchfree"):
        assert module.__file__.startswith(sys.argv[1]), module.__file__
print(*{name.partition(".")[0] for name in sys.modules if name.startswith("latchfree")})
"""


BARE = """
import sys
import pyspark
from pyspark import cloudpickle

pyspark.SparkFiles.get = lambda name: sys.argv[2] + "/" + name
run = cloudpickle.loads(open(sys.argv[1], "rb").read())
try:
    list(run([]))
except Exception as error:
    print(type(error).__module__, type(error).__name__)
    print(error)
"""


def test_the_sources_are_all_there_and_always_the_same_bytes():
    path = packed()
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    for package in PACKAGES:
        assert f"{package}/__init__.py" in names
        assert f"{package}/py.typed" in names
    assert not any("__pycache__" in name for name in names)
    content = path.read_bytes()
    path.unlink()
    assert packed() == path
    assert path.read_bytes() == content


def test_what_is_shipped_imports_nothing_else_of_ours():
    """Also not in a function that is called on a worker only."""
    with zipfile.ZipFile(packed()) as archive:
        sources = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith((".py", ".pyi"))}
    imported = {
        (name, module.partition(".")[0])
        for name, source in sources.items()
        for node in ast.walk(ast.parse(source))
        for module in imports(node)
        if module.startswith("latchfree")
    }
    assert [(name, package) for name, package in imported if package not in PACKAGES] == []
    assert {package for _, package in imported} == set(PACKAGES)


def imports(node: ast.AST) -> list[str]:
    """Return the modules that an import statement names."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [each.name for each in node.names] if isinstance(node, ast.Import) else []


def test_what_is_shipped_is_all_that_the_jobs_need(tmp_path):
    """Every module of the jobs is imported where nothing but the archive is ours."""
    with zipfile.ZipFile(packed()) as archive:
        archive.extractall(tmp_path)
        modules = [name.removesuffix(".py").replace("/", ".") for name in archive.namelist() if name.endswith(".py")]
    worker = subprocess.run(
        [sys.executable, "-c", IMPORTING, tmp_path, *(name for name in modules if name.startswith("latchfree_spark"))],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(worker.stdout.split()) == set(PACKAGES)


def test_a_host_compiles_once(tmp_path):
    returns = 2 * np.arange(20_000) + 1, np.ones(20_000, bool)
    run = bootstrap(packed().name, (), "latchfree_lincheck.history.order:order_events", cloudpickle.dumps(returns))
    (tmp_path / "run").write_bytes(cloudpickle.dumps(run))
    told = []
    for _ in range(2):
        worker = subprocess.run(
            [sys.executable, "-c", WORKER, tmp_path / "run", packed().parent],
            env={
                **{n: v for n, v in os.environ.items() if n != "PYTHONPATH"},
                "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
                "LATCHFREE_COMPILED": "jit",
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(worker.stdout.splitlines())
    home = tmp_path / "cache" / "latchfree" / "packages" / packed().stem
    assert [lines[0] for lines in told] == ["40000"] * 2
    assert [lines[1] for lines in told] == [str(home / "latchfree_lincheck" / "history" / "order.py")] * 2
    assert [lines[2] for lines in told] == ["True", "False"], "the second worker loads what the first one kept"
    assert [each.name for each in home.parent.iterdir()] == [home.name]
    assert Path(home, "latchfree_spark", "py.typed").exists()


def test_a_worker_without_the_packages_says_so_by_name(tmp_path):
    """Before it imports anything of ours that needs them, also where the driver has asked nobody."""
    (tmp_path / "site").mkdir()
    for package in (pyspark, py4j):
        (tmp_path / "site" / package.__name__).symlink_to(Path(package.__file__).parent)
    run = bootstrap(packed().name, (), "latchfree_spark.frames.judging:judged", b"", tuple(here().items()))
    (tmp_path / "run").write_bytes(cloudpickle.dumps(run))
    worker = subprocess.run(
        [sys.executable, "-S", "-c", BARE, tmp_path / "run", packed().parent],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site"), "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    kind, *problems = worker.stdout.splitlines()
    assert kind == "latchfree_spark.needs WorkersDiffer"
    where = f"{socket.gethostname()}: {sys.executable} has no"
    fix = "which the jobs need; set PYSPARK_PYTHON to a Python that has it on every host"
    assert problems == [f"{where} {name}, {fix}" for name in NEEDED]
