"""The Ctrie's compiled kernels: everything that touches the nodes of a trie.

Memory: `nodes` makes and reads nodes, `entries` the keys and values in them. Protocols: `gcas` replaces an I-node's
main, `root` the root. Copies: `cnode` and `lnode`. Operations: `lookup`, `insert`, `remove` with `clean`, and `scan`.
Snapshots: `snapshot` takes them, `registry` keeps their deadlists, `retirement` retires what updates replace.
Calls from Python: `methods` for one key, `loops` for a column of keys, `entrypoints` for the whole trie.
"""
