"""Looking at arenas from outside: what is in one (`inspect`), and whether all of it is whole (`fsck`)."""

from latchfree_fsck.check import Report, Structure, fsck
from latchfree_fsck.inspect import Inspection, inspect

__all__ = ["Inspection", "Report", "Structure", "fsck", "inspect"]
