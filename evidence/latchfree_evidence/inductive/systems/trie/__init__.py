"""The trie over atomic cells (``Ctrie.tla``), for any number of threads, keys, I-nodes, levels and generations.

`words` has the fields, `walking` the way down, `updates` and `contraction` what changes a cell, `swapping` what moves
the root, `theorem` what is proved, `invariant` why, `protocol` the system, `small` its small instances.
"""
