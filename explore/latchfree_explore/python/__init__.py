"""Explore plain Python: every interleaving of threads that share ordinary objects, on one thread of the system.

The threads of a program are greenlets. Before an access to shared state a scheduler decides who goes on, so a schedule
is a list of choices: it can be searched, judged, made small and run again.

From the bottom up: `core` (one schedule), `library` (the standard library over a controlled `_thread`), `hooks` and
`rewriting` (accesses become calls), `search` (which schedules are run); then `program` and `objects` (what is run and
how it is judged), `exploring` and `classes` (the doors).
"""

from latchfree_explore.python import extension

COMPILED = extension.use()
"""Whether the inner parts run as machine code (`latchfree_explore.python.compiling`)."""
