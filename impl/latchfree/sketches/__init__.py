"""Sketches: small summaries of many items, shared by threads and processes.

There is one file for each kind, the Python face of it; `kernels` is the compiled half. `sketch` is the class that all
are made of; in `common`, `place` says where a sketch is, `items` takes strings, bytes and integers, and `hashes` says
by whose hash they are placed. `foreign` has the bytes of other libraries.

Examples
--------
>>> from latchfree.sketches import Bloom
>>> seen = Bloom(expected=1_000_000, false_positives=0.01)
>>> seen.add_many(["a", "b"])
>>> "a" in seen
True
"""

from latchfree.sketches.bloom import Bloom
from latchfree.sketches.common.errors import SketchGone, SketchInvalid, SketchMismatch
from latchfree.sketches.count_min import CountMin
from latchfree.sketches.counting import CountingBloom
from latchfree.sketches.hyperloglog import HyperLogLog
from latchfree.sketches.inverse import InverseBloom
from latchfree.sketches.kll import KLL
from latchfree.sketches.minhash import MinHash
from latchfree.sketches.partitioned import PartitionedBloom
from latchfree.sketches.scalable import ScalableBloom
from latchfree.sketches.sketch import Sketch, from_bytes
from latchfree.sketches.stable import StableBloom
from latchfree.sketches.top import TopK

__all__ = [
    "KLL",
    "Bloom",
    "CountMin",
    "CountingBloom",
    "HyperLogLog",
    "InverseBloom",
    "MinHash",
    "PartitionedBloom",
    "ScalableBloom",
    "Sketch",
    "SketchGone",
    "SketchInvalid",
    "SketchMismatch",
    "StableBloom",
    "TopK",
    "from_bytes",
]
