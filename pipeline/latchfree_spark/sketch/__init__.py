"""Estimate counts of messages in constant memory, with sketches that Spark and datasketches share."""

from latchfree_spark.callable import make_callable
from latchfree_spark.sketch.bounds import QUANTILES
from latchfree_spark.sketch.count_min import CountMin
from latchfree_spark.sketch.job import Columns, Total, sketch_messages, sketched

__all__ = ["QUANTILES", "Columns", "CountMin", "Total", "sketch_messages", "sketched"]

make_callable(__name__)
