"""Looking at arenas from outside: what is in one (`inspect`), and whether all of it is whole (`fsck`)."""

from latchfree.fsck.check import Report, Structure, fsck
from latchfree.fsck.inspect import Inspection, inspect

__all__ = ["Inspection", "Report", "Structure", "fsck", "inspect"]
