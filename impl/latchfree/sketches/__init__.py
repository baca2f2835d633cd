"""Sketches: small summaries of many items, shared by threads and processes.

`sketch` is what all have in common, `place` says where a sketch is, `items` takes strings, bytes and integers, one
module a kind is the Python face of it, and `kernels` is the compiled half.

Examples
--------
>>> from latchfree.sketches import Bloom
>>> seen = Bloom(expected=1_000_000, false_positives=0.01)
>>> seen.add_many(["a", "b"])
>>> "a" in seen
True
"""

from latchfree.sketches.bloom import Bloom
from latchfree.sketches.count_min import CountMin
from latchfree.sketches.errors import SketchGone, SketchInvalid, SketchMismatch
from latchfree.sketches.hyperloglog import HyperLogLog
from latchfree.sketches.inverse import InverseBloom
from latchfree.sketches.sketch import Sketch, from_bytes

__all__ = [
    "Bloom",
    "CountMin",
    "HyperLogLog",
    "InverseBloom",
    "Sketch",
    "SketchGone",
    "SketchInvalid",
    "SketchMismatch",
    "from_bytes",
]
