"""Seeded bugs of the concurrent topic trie, one file each."""
