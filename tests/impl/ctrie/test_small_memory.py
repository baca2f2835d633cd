"""Private arenas are cheap while they are small, and take what a limited process can give."""

import os
import subprocess
import sys

import pytest

START = """
import resource
from pathlib import Path
from latchfree import Arena, Ctrie

def kept(field):
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(field))

def mapped():
    return int(Path("/proc/self/statm").read_text().split()[0]) * 4096

first = Ctrie({1: 1}, keys=int, values=int)
"""


def run(program):
    """Run a program in a process of its own and return what it prints."""
    done = subprocess.run([sys.executable, "-c", START + program], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_five_hundred_tries_of_one_entry_take_little_memory():
    run(
        """
before = kept("Rss:")
tries = [Ctrie({1: 1}, keys=int, values=int) for _ in range(500)]
assert kept("Rss:") - before < 50 << 20, kept("Rss:") - before  # 1 GB in huge pages
assert sum(trie[1] for trie in tries) == 500
"""
    )


@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_a_default_arena_takes_half_of_what_a_limited_process_can_map(limit):
    run(
        f"""
resource.setrlimit(resource.{limit}, (mapped() + (3 << 30), -1))
tries = [Ctrie({{1: 1}}, keys=int, values=int) for _ in range(3)]
capacities = [trie.arena.capacity for trie in tries]
assert capacities[0] < 3 << 30 and min(capacities) >= 64 << 20, capacities
tries[0].update((n, n) for n in range(10_000))
assert len(tries[0]) == 10_000
"""
    )


def test_a_limited_process_takes_no_less_than_64_mib():
    text = run(
        """
resource.setrlimit(resource.RLIMIT_AS, (mapped() + (48 << 20), -1))
try:
    Ctrie(keys=int, values=int)
except OSError as error:
    print(error)
first[2] = 2
assert dict(first) == {1: 1, 2: 2}
"""
    )
    assert "67,108,864 bytes of address space for a private arena are not to be had" in text


def test_a_given_capacity_is_taken_or_refused():
    text = run(
        """
limit = mapped() + (1 << 30)
resource.setrlimit(resource.RLIMIT_AS, (limit, -1))
assert Arena.anonymous(256 << 20).capacity == 256 << 20
try:
    Arena.anonymous(4 << 30)
except OSError as error:
    print(f"{limit:,}")
    print(error)
"""
    )
    limit, message = text.splitlines()
    assert (
        f"4,294,967,296 bytes of address space for a private arena are not to be had: the process may map {limit} "
        in message
    )
    assert "(ulimit -v)" in message
    assert "(ulimit -d)" in message
    assert "give a smaller Arena.anonymous(capacity), or raise the limit" in message
