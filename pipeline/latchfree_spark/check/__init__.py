"""Judge millions of recorded histories on Spark; see `check_files`, and `latchfree_spark.frames.check` for tables.

The steps of the driver are in `job`. ``input`` finds and reads files, ``judge`` judges histories on workers, ``output``
tells people what was found.
"""

from latchfree_spark.callable import make_callable
from latchfree_spark.check.job import check_files
from latchfree_spark.check.options import BadInput, JobRefused, Options
from latchfree_spark.check.output.summary import Summary

__all__ = ["BadInput", "JobRefused", "Options", "Summary", "check_files"]

make_callable(__name__)
