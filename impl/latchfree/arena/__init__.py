"""The arena: memory of 64-bit words that threads and processes share, and that gives nodes to every structure in it.

Example: `Arena.create(name="stock")` makes shared memory that another process opens with `Arena.open("stock")`. A Ctrie
in it is a root record at some word, reached through the arena's directory by name; all its links are offsets of words.

From below: `layout` says where things are, `region` maps a file (`files`, `filelocks`, `header`), `kernels` allocate
and free nodes, and `Arena` puts these together: participants, the `directory` of structures, the `reaper` of what dead
processes have left. The arena knows no structure (see `latchfree.structures`).
"""

from latchfree.arena.arena import Arena

__all__ = ["Arena"]
