"""latchfree: a lock-free hash trie with O(1) snapshots, compiled by numba."""

__version__ = "0.1.0"
