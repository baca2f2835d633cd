"""Tables of Delta Lake and Iceberg, as the packages of PyPI read and write them: judged night by night."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lincheck_random import random_history

from latchfree_lincheck import check, write_history

DRIVER = Path(__file__).parents[1] / "helpers" / "pipeline_lakes.py"
PACKAGES = {"delta": ["deltalake>=1.6,<2"], "iceberg": ["pyiceberg[pyarrow,sql-sqlite]>=0.12,<0.13"]}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PACKAGES)
def test_nights(tmp_path, kind):
    """The packages are for this test alone, so it takes them from PyPI into a folder of its own."""
    home = tmp_path / "packages"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "install", "--target", home)
    subprocess.run([*pip, *PACKAGES[kind]], check=True, timeout=600)
    nights = [[random_history("map", seed, most=12) for seed in range(first, first + 30)] for first in (0, 100)]
    for number, histories in enumerate(nights):
        write_history(tmp_path / f"{number}.parquet", histories)
    (tmp_path / "lake").mkdir()
    path = os.pathsep.join([*filter(None, sys.path), str(home)])
    files = (tmp_path / "0.parquet", tmp_path / "1.parquet")
    done = subprocess.run(
        [sys.executable, DRIVER, kind, tmp_path / "lake", *files],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["judged"] == [30, 30]
    expected = [
        [f"night{number}", history.name, check(history, "map").verdict]
        for number, histories in enumerate(nights)
        for history in histories
    ]
    assert sorted(told["verdicts"]) == sorted(expected)
