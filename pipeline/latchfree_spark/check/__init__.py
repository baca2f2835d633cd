"""Judge millions of recorded histories on Spark; see `check_files`, and `latchfree_spark.frames.check` for tables.

A job has many steps: each file is one of them, or what several steps share.
"""

from latchfree_spark.callable import make_callable
from latchfree_spark.check.job import check_files
from latchfree_spark.check.options import BadInput, JobRefused, Options
from latchfree_spark.check.summary import Summary

__all__ = ["BadInput", "JobRefused", "Options", "Summary", "check_files"]

make_callable(__name__)
