"""The mixes of `measuring.mixing` on Scala's ``TrieMap``: ``TrieMapMixes.java`` is given the same tapes, in a file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from measuring.mixing import Settings, check, parts
from measuring.workload import Row
from peers import scala_triemap

_SOURCE = Path(__file__).resolve().parent / "TrieMapMixes.java"


def rows(settings: Settings) -> Iterator[Row]:
    """Write the tapes, run the Java program, check what its maps hold, and read its rows."""
    bulk = [part for part in parts(settings) if part.call == "bulk"]
    rounds = scala_triemap.WARM_UP * settings.rounds
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, str(place)) for place in range(len(bulk))]
        for file, part in zip(files, bulk, strict=True):
            head = np.array([len(part.keys), len(part.tapes), settings.operations], np.int64)
            _written(file, head, part.keys, *chain.from_iterable(part.tapes))
        heap = scala_triemap.heap(max(settings.sizes))
        lines = scala_triemap.run(_SOURCE, heap, [str(rounds), *map(str, files)]).splitlines()
        for file, part, line in zip(files, bulk, lines, strict=True):
            check("triemap", part, np.fromfile(file.with_suffix(".out"), ">i8").tolist())
            cpu, wall, overlap = map(float, line.split("\t"))
            yield Row("triemap", "bulk", len(part.keys), len(part.tapes), part.operation, cpu, wall, overlap)


def _written(file: Path, *arrays: Any) -> None:
    """Write numbers as Java reads them."""
    np.concatenate(arrays).astype(">i8").tofile(file)
