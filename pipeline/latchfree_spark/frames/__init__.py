"""Tables in, tables out: judge, match and sketch the rows of any DataFrame, lazily; see `check`."""

from latchfree_spark.frames.checking import check

__all__ = ["check"]
