"""Sketches that Apache Spark and DataSketches for Java have written: their bytes are recorded in a file.

`tests/pipeline/sketch/test_foreign_bytes.py` has them written again, and compares.
"""

import json
import random
from pathlib import Path
from typing import Any, Final

RECORDED: Final = Path(__file__).parents[1] / "sketches" / "recorded.json"


def recorded(name: str) -> bytes:
    """Return the bytes of a sketch that was recorded."""
    return bytes.fromhex("".join(json.loads(RECORDED.read_text())[name]))


def texts() -> list[str]:
    """Strings of every length up to 80 characters, ASCII and not."""
    rng = random.Random(20260101)
    alphabets = ("".join(map(chr, range(1, 128))), "aé\u0416\u20ac\U0001f600", "\u07ff\u0800\uffff\U00010000")
    return ["".join(rng.choices(alphabet, k=length)) for length in range(1, 81) for alphabet in alphabets]


def integers() -> list[int]:
    """Integers, negative ones and the outermost."""
    rng = random.Random(20260102)
    return [*range(-20, 20), -(2**63), 2**63 - 1, *(rng.randrange(-(2**63), 2**63) for _ in range(60))]


def items() -> list[str | int]:
    return [*texts(), *integers()]


#: Of `CountMinSketch`: error, confidence, seed.
COUNTS: Final = {"1 row": (0.3, 0.5, 0), "4 rows": (0.1, 0.9, 7), "10 rows": (0.5, 0.999, -5)}
#: Of `BloomFilter`: version, items, rate, seed.
FILTERS: Final = {
    "version 1": (1, 1_000, 0.01, 0),
    "version 2": (2, 1_000, 0.01, 0),
    "version 2 with a seed": (2, 600, 0.03, -77),
}
#: Of `hll_sketch_agg` and of `HllSketch` of DataSketches for Java: precision, kind, items.
REGISTERS: Final = {
    "list": (12, 4, 5),
    "set": (12, 4, 60),
    "4 bits": (4, 4, 342),
    "6 bits": (5, 6, 342),
    "8 bits": (6, 8, 342),
}


def write_all(spark: Any) -> dict[str, bytes]:
    """Return all sketches, written by the classes of Spark and of DataSketches that it brings."""
    jvm = spark._jvm
    spark_sketch, hll = jvm.org.apache.spark.util.sketch, jvm.org.apache.datasketches.hll
    found = {}
    for name, (error, confidence, seed) in COUNTS.items():
        counts = spark_sketch.CountMinSketch.create(error, confidence, seed)
        for item in items():
            counts.addString(item) if isinstance(item, str) else counts.addLong(item)
        found[f"CountMinSketch, {name}"] = bytes(counts.toByteArray())
    versions = jvm.java.lang.Class.forName("org.apache.spark.util.sketch.BloomFilter$Version").getEnumConstants()
    for name, (version, size, rate, seed) in FILTERS.items():
        bits = spark_sketch.BloomFilter.optimalNumOfBits(size, rate)
        made = spark_sketch.BloomFilter.create(versions[version - 1], size, bits, seed)
        for item in items():
            made.putString(item) if isinstance(item, str) else made.putLong(item)
        stream = jvm.java.io.ByteArrayOutputStream()
        made.writeTo(stream)
        found[f"BloomFilter, {name}"] = bytes(stream.toByteArray())
    for name, (precision, kind, size) in REGISTERS.items():
        sketch = hll.HllSketch(precision, getattr(hll.TgtHllType, f"HLL_{kind}"))
        for item in items()[:size]:
            if isinstance(item, str):
                sketch.update(item)
            else:  # an array of one number is hashed as the number; of the calls for numbers, py4j takes the wrong one
                numbers = spark._sc._gateway.new_array(jvm.long, 1)
                numbers[0] = jvm.java.lang.Long.parseLong(str(item))
                sketch.update(numbers)
        found[f"HllSketch, {name}, compact"] = bytes(sketch.toCompactByteArray())
        found[f"HllSketch, {name}, updatable"] = bytes(sketch.toUpdatableByteArray())
    return found


def record(spark: Any) -> None:
    """Write the file anew."""
    lines = {name: [data.hex()[at : at + 100] for at in range(0, 2 * len(data), 100)] for name, data in
             write_all(spark).items()}  # fmt: skip
    RECORDED.write_text(json.dumps(lines, indent=1) + "\n")
