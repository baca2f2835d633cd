"""The Ctrie: a concurrent hash trie with constant-time snapshots.

Safety invariant (spec: ``Properties!Linearizable``): the abstract map is what a traversal from the root finds when
`kernels.gcas.gcas_read` reads every main. The map changes only at a committed GCAS or a committed RDCSS, each of which
is one step.

The compiled code is in `kernels`. The Python face is here:

===============  =============================================================================
module           content
===============  =============================================================================
mapping          `Ctrie`, the mutable mapping
slots            the type below it: compiled code for one key a call
one_key          the same in Python, through the codecs
references       objects by reference: which maps have them, and what a map does with one key
many_references  calls for many keys of such a map
interpreter      what compiled code knows of the objects of this interpreter
view             `Snapshot`, the read-only mapping of one instant
store            one trie in one arena with its codecs, shared by `Ctrie` and `Snapshot`
binding          builtin functions of the interpreter, made of `kernels.methods` and bound to a trie
many             calls for many keys, over `kernels.loops`
columns          keys and values of such calls, from and to Arrow, NumPy and lists
codecs           Python objects as words and bytes
holds            registered snapshots and private tries, given back with the last Python reference
recovery         reclaims snapshots and private tries of dead processes
backup           save a snapshot to a file, load a Ctrie from a file
backup_file      the Parquet file of a backup
===============  =============================================================================
"""
