"""The board: all state of a running exploration, in words at one address.

The scheduler runs on many stacks, so its state cannot live in Python objects or in arguments. A *fiber* is a thread of
the program under test, on a stack of its own; the last fiber runs the operations before and after the threads. A *step*
is one atomic access, the unit of interleaving.

Words are signed in the scheduler's arithmetic; addresses are raw.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.atomics import peek, poke
from latchfree.jit import kernel
from latchfree.kinds import Word

MOST_THREADS: Final = 8
MOST_OPERATIONS: Final = 62

# What stays the same for a scenario.
BASE: Final = 0  # address of the memory under test
WORDS: Final = 1  # its size
ROOT: Final = 2  # what the target's setup returned
THREADS: Final = 3
TRACE: Final = 4  # address of the steps
UNDO: Final = 5  # address of the undo log
MOST_UNDO: Final = 6
CALLS: Final = 7  # address of the operations
MOST_STEPS: Final = 8
MOST_ACCESSES: Final = 9  # plain ones included
CHOOSE: Final = 10  # address of the strategy's function that chooses a thread
BOUND: Final = 11  # a number that the strategy takes
PLAIN: Final = 12  # whether plain accesses are steps too
ENTRY: Final = 13  # the C function that a fiber starts in
ENTRY_WORD: Final = 14  # where a fresh stack holds its address
ACCESS: Final = 15  # the C function that explored code calls for each access

# What a schedule changes.
CURRENT: Final = 16  # the fiber that runs
MODE: Final = 17
STATUS: Final = 18
STEPS: Final = 19
LEFT: Final = 20  # accesses until the schedule counts as endless
UNDONE: Final = 21  # entries in the undo log
ARRIVED: Final = 22  # threads that have reached their first access
RETURNED: Final = 23  # mask of operations that have returned

# What lasts from one schedule to the next.
PREFIX: Final = 32  # steps whose thread is given
SEED: Final = 33
SCHEDULES: Final = 34
SLEPT: Final = 35  # schedules cut short because an equivalent one was run
STARTED: Final = 36
LONGEST: Final = 37  # steps of the longest schedule
ALL_STEPS: Final = 38
MAIN_STACK: Final = 39
SOLO_STEPS: Final = 40  # steps in which a thread alone must finish its operation; 0 if nobody asks
SPARE_TRACE: Final = 41
LONER: Final = 42  # the thread that is alone, and the operation it is to finish
LONER_CALL: Final = 43
KEPT_STEPS: Final = 44  # while the trace shows a thread that is stuck alone: the steps of the schedule, else 0
KEPT_STATUS: Final = 45  # the status of that schedule
STUCK_STATE: Final = 46  # after how many of its steps that was, and which thread
STUCK_THREAD: Final = 47
CHANGES: Final = 48  # up to 16 steps at which PCT changes priorities

# The strategy, beside CHOOSE and BOUND.
SETTLE: Final = 64  # address of the function that accounts for a step, 0 if there is none
ADVANCE: Final = 65  # address of the function that prepares the next schedule
EXHAUSTIVE: Final = 66  # whether it ends by itself
COUNTED: Final = 67  # whether its schedules stand for interleavings that are counted
ANSWER: Final = 68  # what a function called through its address has returned
SOLO_CHOOSE: Final = 69  # address of the function that chooses where a thread is alone
DRAWN: Final = 70  # whether what a load reads is drawn, and not enumerated or given

# Weak memory and races, see `latchfree_explore.views`.
REAL_TIME: Final = 71  # whether it counts that one operation had returned when another began
WATCH: Final = 72  # NOT_WATCHED, RACES or WEAK
ROWS: Final = 73  # address of the rows, one for each word touched in a schedule
ROW_OF: Final = 74  # address of an index: the row of each word, 0 if there is none
ROWS_USED: Final = 75
MOST_ROWS: Final = 76
MESSAGES: Final = 77  # address of the messages, one for each write
MESSAGES_USED: Final = 78
MOST_MESSAGES: Final = 79
CLOCKS: Final = 80  # address of the clocks
STALE: Final = 81  # loads that have read an older message
RACED: Final = 82  # whether the schedule has a data race, and the first: its word, and the two accesses
RACE_AT: Final = 83
RACE_THREAD: Final = 84
RACE_KIND: Final = 85
RACE_SITE: Final = 86
RACE_OTHER: Final = 87  # the thread of the earlier access
RACE_WRITES: Final = 88  # whether the earlier access wrote
RACE_PLAIN: Final = 89  # whether the earlier access was plain
WEAKENED: Final = 90  # how many sites are weakened, and the address of their list: a site, and how
WEAK_SITES: Final = 91
GUIDED: Final = 92  # whether an execution graph answers the accesses: NOT_GUIDED and so on
FORBIDDEN: Final = 93  # schedules that failed, but that the memory model forbids

# What is watched.
NOT_WATCHED: Final = 0
RACES: Final = 1  # memory is sequentially consistent; plain accesses must be ordered by happens-before
WEAK: Final = 2  # a load may read an older message too, and a store may come before newer ones

# Who answers the accesses of given steps, see `latchfree_explore.graphs`.
NOT_GUIDED: Final = 0
GUIDED_ALONG: Final = 1  # a graph does; what follows is the newest, and only what the graph orders is known
GUIDED_ON: Final = 2  # the same, and a thread that pauses goes on, woken or not
TRANSLATED: Final = 3  # a graph does; each step notes which choice that is where no graph answers

# Modes.
ALONE: Final = 0  # one fiber runs, nobody interferes
TOGETHER: Final = 1

# Status of a schedule.
RUNNING: Final = 0
DONE: Final = 1
SLEEPING: Final = 2  # every thread that could go on would repeat another schedule
ENDLESS: Final = 3
DEADLOCK: Final = 4
ASTRAY: Final = 5  # an access outside the memory
RAISED: Final = 6
DIVERGED: Final = 7  # a given thread could not run
OVERFULL: Final = 8  # too many writes to undo
STUCK: Final = 9  # a thread alone does not finish its operation
RACE: Final = 10  # a data race

# Fibers.
FIBERS: Final = 96
FIBER_WORDS: Final = 32
BOARD_WORDS: Final = FIBERS + (MOST_THREADS + 1) * FIBER_WORDS
F_STACK: Final = 0  # its stack pointer while it waits
F_TOP: Final = 1  # the stack pointer to start with
F_READY: Final = 2  # 1 from its first access to its end
F_KIND: Final = 3  # the access it is about to make
F_AT: Final = 4
F_A: Final = 5
F_B: Final = 6
F_SITE: Final = 7
F_FIRST: Final = 8  # its operations
F_END: Final = 9
F_CALL: Final = 10  # the operation it is in
F_INVOKING: Final = 11  # 1 until the operation's first access
F_LAST: Final = 12  # its last step, plus one
F_PRIORITY: Final = 13

# Operations.
CALL_WORDS: Final = 16
C_CODE: Final = 0  # address of the compiled function
C_ARITY: Final = 1
C_ARGUMENTS: Final = 2  # up to four
C_RESULT: Final = 6
C_INVOKE: Final = 7  # the step that invoked it
C_RETURN: Final = 8  # the step after which it returned
C_BEFORE: Final = 9  # mask of the operations that had returned when it was invoked

# Steps.
STEP_WORDS: Final = 28
S_THREAD: Final = 0
S_KIND: Final = 1
S_AT: Final = 2
S_OLD: Final = 3
S_NEW: Final = 4
S_A: Final = 5
S_B: Final = 6
S_SITE: Final = 7  # address of a C string, "file:line"
S_CALL: Final = 8
S_FLAGS: Final = 9
S_ENABLED: Final = 10  # threads that could have run
S_TRIED: Final = 11  # threads to run here, in this schedule or another
S_SLEEP: Final = 12  # threads that need not run here
S_SLEEP_RETURNS: Final = 13  # those of them whose next step ends an operation
S_USED: Final = 14  # preemptions before this step
S_CLOCK: Final = 16  # for each thread, how many of the first steps happen before or at this one
S_FROM: Final = 24  # the message read, 0 for what the word held to begin with
S_MADE: Final = 25  # the message made, 0 for none
S_CHOICES: Final = 26  # how many messages or places there were
S_CHOICE: Final = 27  # which of them, counted from the newest

INVOKES: Final = 1
RETURNS: Final = 2

# Kinds of access.
LOAD: Final = 0
LOAD_SEQ: Final = 1
LOAD_UNSURE: Final = 2
STORE: Final = 3
CAS: Final = 4
EXCHANGE: Final = 5
FETCH_ADD: Final = 6
FETCH_OR: Final = 7
FETCH_AND: Final = 8
FETCH_MAX: Final = 9
FETCH_MIN: Final = 10
PEEK: Final = 11
POKE: Final = 12
FENCE: Final = 13  # this and the rest touch no word
PAUSE: Final = 14
NOTHING: Final = 15

KINDS: Final = (
    "load", "load_seq", "load_unsure", "store", "cas", "exchange", "fetch_add", "fetch_or", "fetch_and", "fetch_max",
    "fetch_min", "peek", "poke", "fence", "pause", "no access",
)  # fmt: skip

NOWHERE: Final = -1


@kernel
def get(address: Word, at: Word) -> Word:
    """Return word `at` from an address on, signed."""
    return np.int64(peek(np.uint64(address), np.uint64(at)))


@kernel
def put(address: Word, at: Word, value: Word) -> None:
    """Write word `at` from an address on."""
    poke(np.uint64(address), np.uint64(at), np.uint64(value))


@kernel
def fiber(board: Word, k: Word) -> Word:
    """Return the address of fiber `k`."""
    return board + 8 * (FIBERS + k * FIBER_WORDS)


@kernel
def step(board: Word, k: Word) -> Word:
    """Return the address of step `k`."""
    return get(board, TRACE) + 8 * k * STEP_WORDS


@kernel
def call(board: Word, k: Word) -> Word:
    """Return the address of operation `k`."""
    return get(board, CALLS) + 8 * k * CALL_WORDS
