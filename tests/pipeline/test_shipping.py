"""Workers that have nothing of ours: the sources are unpacked once, and compiled code is cached."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
from pyspark import cloudpickle

from latchfree.jit import cache_root
from latchfree_spark.shipping import PACKAGES, _bootstrap, packed

WORKER = """
import sys
import numpy as np
import pyspark
from pyspark import cloudpickle

assert not any(name.startswith("latchfree") for name in sys.modules)
pyspark.SparkFiles.get = lambda name: sys.argv[2] + "/" + name
run = cloudpickle.loads(open(sys.argv[1], "rb").read())
print([int(event) for event in run(np.array([0, 2]))])
import latchfree_lincheck.history.order as order
print(order.__file__)
print(sum(order._span.stats.cache_hits.values()), "of", len(order._span.signatures))
"""


def test_the_sources_are_all_there_and_always_the_same_bytes():
    path = cache_root() / "packages" / packed()
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    for package in PACKAGES:
        assert f"{package}/__init__.py" in names
        assert f"{package}/py.typed" in names
    assert not any("__pycache__" in name for name in names)
    content = path.read_bytes()
    path.unlink()
    packed.cache_clear()
    assert packed() == path.name
    assert path.read_bytes() == content


def test_a_host_compiles_once(tmp_path):
    returns = np.array([3, 4]), np.array([True, True])
    run = _bootstrap(packed(), "latchfree_lincheck.history.order:order_events", cloudpickle.dumps(returns))
    (tmp_path / "run").write_bytes(cloudpickle.dumps(run))
    told = []
    for _ in range(2):
        worker = subprocess.run(
            [sys.executable, "-c", WORKER, tmp_path / "run", cache_root() / "packages"],
            env={
                **{n: v for n, v in os.environ.items() if n != "PYTHONPATH"},
                "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(worker.stdout.splitlines())
    home = tmp_path / "cache" / "latchfree" / "packages" / packed().removesuffix(".zip")
    assert [lines[0] for lines in told] == ["[0, 2, 1, 3]"] * 2
    assert [lines[1] for lines in told] == [str(home / "latchfree_lincheck" / "history" / "order.py")] * 2
    assert [lines[2] for lines in told] == ["0 of 1", "1 of 1"]
    assert [each.name for each in home.parent.iterdir()] == [home.name]
    assert Path(home, "latchfree_spark", "py.typed").exists()
