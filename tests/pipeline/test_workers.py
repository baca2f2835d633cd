"""The Python of the executors, compared with the driver's."""

import sys

import pytest

from latchfree_spark.needs import NEEDED, WorkersDiffer, differences, here, require_as
from latchfree_spark.workers import explained, require_same_python

MINE = "{}.{}".format(*sys.version_info[:2])
FIX = f"set PYSPARK_PYTHON to a Python {MINE} that is on every host"


def told(**more):
    """Return what a worker tells that runs what the driver runs."""
    return {"host": "node7", "executable": "/usr/bin/python3", **here(), **more}


def test_the_driver_has_what_the_jobs_need():
    assert all(here()[name] for name in NEEDED)
    assert differences(told(), here()) == []


def test_another_python():
    (problem,) = differences(told(python="3.9", numba=None), here())
    assert "node7: /usr/bin/python3 is Python 3.9, and the driver is Python " + MINE in problem
    assert f"set PYSPARK_PYTHON to a Python {MINE}" in problem


@pytest.mark.parametrize("name", NEEDED)
def test_a_package_that_is_missing(name):
    (problem,) = differences(told(**{name: None}), here())
    assert problem.startswith(f"node7: /usr/bin/python3 has no {name}, which the jobs need; set PYSPARK_PYTHON")


def test_another_numba():
    (problem,) = differences(told(numba="0.1.2"), here())
    assert problem.startswith(f"node7: /usr/bin/python3 has numba 0.1.2, and the driver has {here()['numba']}")
    assert differences(told(numba=here()["numba"] + ".post1"), here()) == []


TASK = "Task 0 in stage 0.0 failed, most recent failure: Lost task 0.0 in stage 0.0 (TID 3) (10.0.0.7 executor 1): "
OLDER = (
    "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different "
    "version 3.8 than that in driver 3.11, PySpark cannot run with different minor versions.\nPlease check"
)
NEWER = OLDER.replace("version 3.8", "version: 3.8").replace("driver 3.11", "driver: 3.11")


@pytest.mark.parametrize("text", [OLDER, NEWER])
def test_what_spark_says_about_another_python(text):
    assert explained(TASK + text) == f"10.0.0.7 has Python 3.8, and the driver has Python {MINE}; {FIX}"
    assert explained(text, ["a", "b"]) == f"a worker (a, b) has Python 3.8, and the driver has Python {MINE}; {FIX}"


def test_what_spark_says_about_no_python():
    said = explained(TASK + 'java.io.IOException: Cannot run program "/opt/py": error=2, No such file or directory')
    assert said == f"10.0.0.7 has no /opt/py, which PYSPARK_PYTHON or the path of the driver names; {FIX}"


def test_what_a_python_says_that_does_not_start():
    text = (
        "SparkException: \nError from python worker:\n  Traceback\n  SyntaxError: invalid syntax\nPYTHONPATH was:\n  /a"
    )
    assert explained(TASK + text) == f"10.0.0.7: its Python does not start: SyntaxError: invalid syntax; {FIX}"
    text = "Error from python worker:\n  /usr/bin/python3: No module named pyspark\nPYTHONPATH was:\n  /a"
    assert explained(text, ["b"]).startswith(
        "a worker (b): its Python does not start: /usr/bin/python3: No module named"
    )


def test_other_errors_are_not_explained():
    assert explained(TASK + "ValueError: 3") is None
    assert explained(TASK + "ModuleNotFoundError: No module named 'mine'") is None


def test_what_a_worker_says_itself():
    text = "PythonException: Traceback\n  File x\nlatchfree_spark.needs.WorkersDiffer: node7: it has no numba\n\n\tat x"
    assert explained(text) == "node7: it has no numba"


def test_a_worker_compares_itself_with_the_driver():
    require_as(tuple(here().items()))
    with pytest.raises(WorkersDiffer, match=rf"{sys.executable} has numba .*, and the driver has 0\.1\.2; install the"):
        require_as(tuple({**here(), "numba": "0.1.2"}.items()))


def test_executors_that_run_the_same_python(spark):
    require_same_python(spark)
