"""Wheels on a cluster whose workers have nothing of ours: the project itself, and a model of the user's own."""

import importlib
import os
import subprocess
import sys

import pytest
from pipeline_bare import bare_python, sources, wheel
from pipeline_jobs import verdicts
from pipeline_processes import cluster

from latchfree_cli import exits
from latchfree_lincheck import History, Operation, write_history
from latchfree_spark.shipping import PACKAGES

pytestmark = pytest.mark.cluster

COMMAND = "import sys; from latchfree_cli.main import main; sys.exit(main())"
TALLY = """
from latchfree_model import SequentialModel
from tally.words import READ

class Tally(SequentialModel):
    name = "tally"
    operations = {"add": 1, READ: 0}

    def init(self):
        return 0

    def apply(self, state, call):
        return (state, state) if call.f == READ else (None, state + call.arguments[0])
"""


def tallies(count):
    """Return histories of a counter, every tenth of them a violation."""
    made = []
    for number in range(count):
        seen = number + (number % 10 == 3)
        operations = [Operation(0, "add", (number,), None, 0, 2), Operation(1, "read", (), seen, 3, 4)]
        made.append(History(f"h{number}", operations))
    return made


def test_the_project_and_a_model_as_wheels(tmp_path):
    python = bare_python(tmp_path)
    for package in PACKAGES:
        importlib.import_module(package)
        alone = subprocess.run([python, "-c", f"import {package}"], capture_output=True, text=True, check=False)
        assert f"No module named '{package}'" in alone.stderr
    ours = wheel(tmp_path, "latchfree-0.1.0", {name: text for each in PACKAGES for name, text in sources(each).items()})
    contents = {"tally/__init__.py": TALLY, "tally/words.py": 'READ = "read"\n'}
    theirs = wheel(tmp_path, "tally-1.0", contents)
    write_history(tmp_path / "x.jsonl", tallies(200))
    (tmp_path / "spark-defaults.conf").write_text(
        f"spark.executor.memory 512m\nspark.cores.max 2\nspark.executorEnv.NUMBA_CACHE_DIR {tmp_path / 'cache'}\n"
    )
    arguments = [tmp_path / "x.jsonl", tmp_path / "out", "--model", "tally:Tally", "--py-files", f"{ours},{theirs}"]
    path = os.pathsep.join(each for each in sys.path if each)
    with cluster(tmp_path) as (address, _):
        result = subprocess.run(
            [sys.executable, "-c", COMMAND, "pipeline", "check", *arguments, "--chunks", "4", "--master", address],
            env={**os.environ, "PYTHONPATH": path, "SPARK_CONF_DIR": str(tmp_path), "PYSPARK_PYTHON": str(python)},
            capture_output=True, text=True, timeout=1200, check=False,
        )  # fmt: skip
    assert result.returncode == exits.VIOLATION, result.stderr[-3000:]
    found = {row["history"]: row["verdict"] for row in verdicts(tmp_path / "out")}
    assert len(found) == 200
    assert [name for name, verdict in found.items() if verdict != "ok"] == [
        name for name in found if name.endswith("3")
    ]
    assert {found[name] for name in found if name.endswith("3")} == {"violation"}
    (unpacked,) = (tmp_path / "cache" / "latchfree" / "packages").iterdir()
    assert (unpacked / "latchfree_spark" / "check" / "judge" / "judging.py").is_file()
