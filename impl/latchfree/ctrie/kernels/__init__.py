"""The Ctrie's compiled kernels: all code that touches the nodes of a trie.

The folder is large since each file has one operation, or one kind of node or object.

============  ================================================================================
module        content
============  ================================================================================
shape         the words of each kind of node
nodes         making and reading nodes
snode         keys and values in S-nodes
gcas          GCAS and RDCSS: replace an I-node's main, and the root
mains         C-nodes and L-nodes with one change, and new branches
lookup        find a key, in a live trie and in a frozen tree
insert        put, also conditionally
remove        remove, also conditionally
helping       renew an old child, pull tombs into their parents
scan          walk over a frozen tree
snapshot      freeze, fork, clear and destroy a trie
idle          the snapshot that nobody holds, taken again while nothing was written
registry      registered snapshots and their deadlists
retirement    retire the nodes that an update has replaced
trees         free whole trees, a few nodes at a time
methods       builtins on encoded keys and values, as the interpreter calls them
slots         what the interpreter calls for ``trie[key]``, ``trie.get(key)`` and so on
single        the operations on one key, from objects to objects
references    objects of Python in S-nodes: who owns which reference, and who lets go when
by_reference  the operations on one key of a map of objects
visiting      what the garbage collector sees of a map of objects
objects       keys and values taken from objects, and made to objects
surprise      the way to the Python functions
context       the words that say where a call works
loops         calls for many keys, without the interpreter lock
entry_points  calls on the whole trie
============  ================================================================================
"""
