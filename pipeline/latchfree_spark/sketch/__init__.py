"""Estimate counts of messages in constant memory, with Spark's own sketches."""

from latchfree_spark.callable import make_callable
from latchfree_spark.sketch.count_min import CountMin
from latchfree_spark.sketch.job import QUANTILES, Columns, Total, sketch_messages, sketched

__all__ = ["QUANTILES", "Columns", "CountMin", "Total", "sketch_messages", "sketched"]

make_callable(__name__)
