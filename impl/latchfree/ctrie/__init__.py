"""The Ctrie: a concurrent hash trie with constant-time snapshots.

Safety invariant (spec: ``Properties!Linearizable``): the abstract map is what a traversal from the root finds when
every main is read through `gcas_read`; it changes only at a committed GCAS or a committed RDCSS, each of which
is one step. Read `nodes` for the memory, `gcas` and `root` for the two protocols, `lookup`, `insert`, `remove`
and `clean` for the operations, `snapshot` for the rest.
"""
