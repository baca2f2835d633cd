"""T1: the recorder takes the ticket of an operation's return before the operation, together with that of its call.

Operations look shorter than they are, so what is correct looks wrong: an operation that was overtaken while it ran
seems to have ended before. (A ticket taken late makes them look longer, which hides errors; the tests of the
recording see that operations of one thread then overlap.)
"""

from latchfree.atomics import fetch_add
from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree_evidence.tickets import ONE, TICKET


@kernel
def invoked(shared: Word) -> Word:
    """Take two tickets at once: the other is for the return."""
    return fetch_add(shared, TICKET, ONE + ONE)


@kernel
def returned(shared: Word, invoke: Word) -> Word:
    """Return the ticket that was taken before the operation."""
    return invoke + ONE  # the real one takes a ticket now
