"""Spark's daemon of Python workers, which imports what each of its workers would import after the fork.

A worker of Spark's own daemon spends half a second of processor time on imports, and tests of tasks that fail start a
hundred workers. Only libraries are imported here: our modules are found, shipped and imported by each worker, as ever.
"""

import numpy  # noqa: F401
import pandas  # noqa: F401
import pyarrow.parquet  # noqa: F401
import pyspark.sql.pandas.serializers
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

if __name__ == "__main__":
    manager()
