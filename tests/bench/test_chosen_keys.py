"""The benchmark of collisions: its keys have one hash, and are different; what it prints has a row for each size."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from latchfree.topics import MaskIndex
from latchfree.topics.concurrent.kernels.digits import _digit
from latchfree.words import hash_bytes

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/chosen_keys"))

import chosen
import costs


def hashes(keys, kernel):
    found = set()
    for key in keys:
        data = np.frombuffer(key.encode(), np.uint8)
        found.add(int(kernel(np.uint64(data.ctypes.data), np.uint64(len(data)))))
    return found


def test_strings_have_one_hash():
    keys = chosen.strings(100)
    assert len(set(keys)) == len(hashes(chosen.spread(keys), hash_bytes)) == 100
    assert len(hashes(keys, hash_bytes)) == 1


def test_words_of_the_trie_have_one_digit():
    keys = chosen.of_trie(100)

    def digit(address, length):
        return _digit(address, length, np.uint64(0), length)

    assert len(set(keys)) == len(hashes(chosen.spread(keys), digit)) == 100
    assert len(hashes(keys, digit)) == 1


def test_words_of_the_index_have_one_key():
    keys = chosen.of_index(100)
    for found, different in ((keys, 1), (chosen.spread(keys), 100)):
        entries = MaskIndex.build(found, range(100), "mqtt")._arrays["entries"]
        assert len(set((entries[entries != 0] >> np.uint64(32)).tolist())) == different


@pytest.mark.parametrize("seed", [0, 7, (1 << 64) - 1])
def test_no_seed_tells_such_strings_apart(seed):
    assert costs.answers(chosen.strings(101), seed) == (1, 100, True)


def test_what_it_prints(capsys):
    assert costs.main(["--keys", "20", "40"]) == 0
    printed = capsys.readouterr().out
    for name in costs.KINDS:
        assert printed.count(f"│ {name} ") == 2
    assert printed.count("of 40 strings of one hash, HyperLogLog says 1; ") == 2
