"""Conservative update by many threads: raise a counter no further than the estimate needs, and never lose a count.

Example: the counters of "tea" are 5 and 3. One more "tea" makes the estimate 4: the second counter becomes 4, the first
is high enough and stays 5. In a plain sketch it would become 6, which is one more error for its other items.

Two threads that add "tea" at once must not both find the first counter high enough for one more: with 4 and 3, both
would leave the 4, and the estimate would be 4 for a true count of 5. So each thread *announces* the greatest count that
it adds at a time, and leaves a counter alone only if that would do for all that is announced.

The steps of an add of count c:

1. (before) ANNOUNCED grows by c;
2. read each counter of the item: v;
3. read ANNOUNCED: a;
4. read the counters again; the lowest is m;
5. to each counter add m + a - v, but at most c, and nothing if that is below 0;
6. (after) ANNOUNCED falls by c.

Why no count is lost. Let t be the time of step 3. All adds of the item that had begun by then either had ended, and are
in each counter and so in m, read later; or were announced, and are in a. So m + a is at least their sum, and the
counter, once raised from v to at least that, holds all of them, whoever added what. Adds that begin after t add to the
counter after v was read, or are such adds themselves, of a later t. One that adds all of c takes nothing on trust.

Alone, a = c, and this is the conservative update of Estan and Varghese (2002). With more threads a counter may grow a
little further, by at most what is announced; a process that was killed in an add stays announced: never too low, and
closer to a plain sketch. ``spec/Conservative.tla`` is this in TLA+.
"""

import numpy as np

from latchfree.atomics import fetch_add, high_product, load, load_seq, peek, poke
from latchfree.border.objects import room
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.record import ANNOUNCED, FIRST_CELL
from latchfree.sketches.kernels.rows import CONSERVATIVE, DEPTH, WIDTH, next_row

_0 = np.uint64(0)


@kernel
def announce(mem: Handle, record: Word, count: Word) -> None:
    """Say that counts up to this are being added, if the sketch is conservative."""
    if peek(mem, record + CONSERVATIVE) != _0:
        # spec: Conservative!Announce -- seq_cst: before the counters are read (mutant X11).
        fetch_add(mem, record + ANNOUNCED, count)


@kernel
def withdraw(mem: Handle, record: Word, count: Word) -> None:
    """Take back what `announce` has said."""
    if peek(mem, record + CONSERVATIVE) != _0:
        # spec: Conservative!Withdraw -- seq_cst: after the counters were raised.
        fetch_add(mem, record + ANNOUNCED, _0 - count)


@kernel
def missing(held: Word, least: Word, announced: Word, count: Word) -> Word:
    """Return what a counter needs that was `held`: up to `least` and all that is announced, but at most `count`."""
    wanted = least + announced
    return min(wanted - held, count) if wanted > held else _0


@kernel
def add(mem: Handle, record: Word, h: Word, count: Word) -> None:
    """Add a count that is announced."""
    width, depth = peek(mem, record + WIDTH), peek(mem, record + DEPTH)
    before = room(16)
    g, row = h, record + FIRST_CELL
    for k in range(depth):
        g = next_row(g)
        # spec: Conservative!ReadBefore -- seq_cst: before ANNOUNCED is read.
        poke(before, np.uint64(k), load_seq(mem, row + high_product(g, width)))
        row += width
    # spec: Conservative!ReadAnnounced -- seq_cst: between the two looks at the counters.
    announced = load_seq(mem, record + ANNOUNCED)
    least = ~_0
    g, row = h, record + FIRST_CELL
    for _ in range(depth):
        g = next_row(g)
        # spec: Conservative!ReadLeast -- acquire: after ANNOUNCED was read.
        least = min(least, load(mem, row + high_product(g, width)))
        row += width
    g, row = h, record + FIRST_CELL
    for k in range(depth):
        g = next_row(g)
        more = missing(peek(before, np.uint64(k)), least, announced, count)
        if more != _0:
            # spec: Conservative!Raise -- seq_cst, as in a plain sketch.
            fetch_add(mem, row + high_product(g, width), more)
        row += width
