"""Compare the Python of the executors with the driver's before the work starts.

Example: the driver runs Python 3.11 and an executor's ``python3`` is 3.9. Functions are sent as byte code, which
differs, so Spark refuses them in the midst of a job with a long traceback. Here a job of one row a core asks first, and
the error names the host, both versions and the setting.

A host that joins later, or that gets none of these rows, is not asked, and nobody is asked for a table that is
evaluated later: then a worker finds out by itself (`needs`), after Spark's own check of the versions of Python.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.needs import NEEDED, WorkersDiffer, differences, here
from latchfree_spark.shipping import is_foreign, is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST: Final = 256
"""Rows that ask, at most."""


def require_same_python(spark: SparkSession) -> None:
    """Raise WorkersDiffer unless the executors that answer have the driver's Python and what the jobs need.

    Where workers run the same interpreter on this machine, nobody is asked.
    """
    if not is_foreign(spark) and spark.sparkContext.pythonExec == sys.executable:
        return
    mine = here()
    problems = sorted({problem for told in _asked(spark) for problem in differences(told, mine)})
    if problems:
        raise WorkersDiffer("\n".join(problems))


def _asked(spark: SparkSession) -> list[dict[str, Any]]:
    """Return what the executors run, each answer once."""
    from pyspark.sql import functions as F

    def tell(needed: str) -> str:
        """Return what this worker runs; sent by value, since the worker has nothing of ours yet."""
        import json
        import socket
        import sys
        from importlib.metadata import PackageNotFoundError, version

        def found(name: str) -> str | None:
            try:
                return version(name)
            except PackageNotFoundError:
                return None

        told = {"host": socket.gethostname(), "executable": sys.executable}
        told["python"] = "{}.{}".format(*sys.version_info[:2])
        return json.dumps({**told, **{name: found(name) for name in needed.split(",")}}, sort_keys=True)

    rows = 16 if is_remote(spark) else min(_MOST, max(2, spark.sparkContext.defaultParallelism))
    ask = F.udf(tell, "string", useArrow=False)
    try:
        answers = spark.range(rows, numPartitions=rows).select(ask(F.lit(",".join(NEEDED))).alias("told")).collect()
    except Exception as error:  # of pyspark or py4j
        said = explained(str(error), _hosts(spark))
        if said is None:
            raise
        raise WorkersDiffer(said) from None
    return [json.loads(answer) for answer in {row["told"] for row in answers}]


def _hosts(spark: SparkSession) -> list[str]:
    """Return the hosts with executors, as far as the driver knows."""
    if is_remote(spark):
        return []
    infos = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    return sorted({str(info.host()) for info in infos})


def explained(text: str, hosts: Sequence[str] = ()) -> str | None:
    """Return what an error of Spark says about the Python of a worker, None if it is about something else.

    Parameters
    ----------
    text : str
        The error.
    hosts : sequence of str
        Where workers are, if the error does not say so.
    """
    itself = re.search(r"\bWorkersDiffer: (.*)", text)
    if itself:
        return itself[1].strip()
    host = re.search(r"\(TID \d+\) \((\S+) executor", text)
    where = host[1] if host else f"a worker ({', '.join(hosts)})" if hosts else "a worker"
    mine = here()["python"]
    fix = f"set PYSPARK_PYTHON to a Python {mine} that is on every host"
    other = re.search(r"PYTHON_VERSION_MISMATCH\].*?(?:different version|version)[^\d]*(\d+\.\d+)", text, re.DOTALL)
    if other:
        return f"{where} has Python {other[1]}, and the driver has Python {mine}; {fix}"
    missing = re.search(r'Cannot run program "([^"]+)"', text)
    if missing:
        return f"{where} has no {missing[1]}, which PYSPARK_PYTHON or the path of the driver names; {fix}"
    module = re.search(r"ModuleNotFoundError: No module named '?(pyspark|numpy|pyarrow)", text)
    if module:
        return f"{where} has a Python without {module[1]}; {fix}"
    failed = re.search(r"Error from python worker:\s*(.*?)\s*(?:PYTHONPATH was|\Z)", text, re.DOTALL)
    return f"{where}: its Python does not start: {failed[1].splitlines()[-1].strip()}; {fix}" if failed else None
