"""Support: what all floors use and what knows none of them.

`publishing` makes files and folders appear whole or not at all. `sources`, with `statements`, tells which sources a
module can reach by its imports, for the cache of compiled code.
"""
