"""Tables in, tables out: judge, match and sketch the rows of any DataFrame, lazily; see `check`."""

from latchfree_spark.frames.checking import check
from latchfree_spark.frames.matching import match, sketch
from latchfree_spark.frames.sql import register

__all__ = ["check", "match", "register", "sketch"]
