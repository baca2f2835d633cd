"""The Ctrie's compiled kernels: all code that touches the nodes of a trie.

============  ================================================================================
module        content
============  ================================================================================
shape         the words of each kind of node
nodes         making and reading nodes
entries       keys and values in S-nodes
gcas          GCAS: replace an I-node's main
root          RDCSS: replace the root
cnode, lnode  copies of C-nodes and L-nodes with a change
lookup        find a key, in a live trie and in a frozen tree
insert        put, also conditionally
remove        remove, also conditionally
clean         pull tombs into their parents
scan          walk over a frozen tree
snapshot      freeze, fork, clear and destroy a trie
registry      registered snapshots and their deadlists
retirement    retire the nodes that an update has replaced
trees         free whole trees, a few nodes at a time
methods       calls for one key, as the interpreter makes them
loops         calls for many keys, without the interpreter lock
entry_points  calls on the whole trie
============  ================================================================================
"""
