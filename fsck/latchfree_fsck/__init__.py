"""fsck: look into an arena from outside, check that all of it is whole, and give back what crashes have leaked.

Example: a process is killed between taking 5 words for a node and linking the node into its trie. The trie is whole,
but nobody will ever use or free these 5 words. `fsck` finds them, and repairs the arena::

    >>> report = fsck(path="stock.arena", repair=True)  # doctest: +SKIP
    >>> report.damage, report.leaked
    ([], 40)

Two questions, two functions. `inspect` says what is in an arena, also while others use it: it changes nothing and takes
no lock. `fsck` checks an arena that nobody has open, in four steps, each in a module of its own:

1. Is each structure whole? `trees` picks the walk, `ctrie_tree` or `topic_tree`; both claim each node exactly once
   (`claims`) and look at a node only after it was found to fit where it is (`nodes`).
2. What do the structures reach, also through snapshots of dead processes? `reach`.
3. What is every other word: free, waiting to be freed, or lost? `memory`.
4. If a repair was asked for and all structures are whole: free everything that no structure reaches. `rebuild`.

No word of the arena is trusted: a damaged file leads to a report, never to a crash.
"""

from latchfree_fsck.check import Report, Structure, fsck
from latchfree_fsck.inspect import Inspection, inspect

__all__ = ["Inspection", "Report", "Structure", "fsck", "inspect"]
