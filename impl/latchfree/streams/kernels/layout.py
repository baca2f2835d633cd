"""Where the words of a ring and of a cell are; words that many write stand apart from words that many read.

Example: the put counter is word 0 of a ring, the get counter word 16. They are 128 bytes apart, so that producers and
consumers do not share a cache line.
"""

import numpy as np

# The words of a ring.
ENQ = np.uint64(0)  # the next position to put at
DEQ = np.uint64(16)  # the next position to get from
MASK = np.uint64(32)  # the number of cells minus one
WEAK = np.uint64(33)  # 1 if the ring is weak
CELLS = np.uint64(34)  # offset of the cells
# Of a ring in an arena, see `latchfree.streams.kernels.roster`:
NUMBER = np.uint64(35)  # random, that of no other ring; 0: given back
HEADER = np.uint64(36)  # offset of the words that the ring's words are among
GONE = np.uint64(37)  # the epoch read after it was given back
SHUT_BEGUN = np.uint64(38)  # 1 if somebody has begun to shut the ring down, see `shutting`
WHEN_FULL = np.uint64(39)  # what `put` does when the ring is full; compiled code does not read it
PAYLOAD = np.uint64(40)  # what the values are: 0, integers; else blocks of bytes, see `payload`
# What sleepers sleep on, see `parking`; read by everybody, seldom written.
NEWS = np.uint64(48)  # moves when values were put, for those who get
ROOM = np.uint64(49)  # moves when values were taken, for those who put
# Counts, see `counts`; seldom written.
REFUSED_PUTS = np.uint64(64)
REFUSED_GETS = np.uint64(65)
PUT_WAITS = np.uint64(66)
GET_WAITS = np.uint64(67)
DROPPED = np.uint64(68)
MENDED = np.uint64(69)
MOST = np.uint64(70)
RING_WORDS = np.uint64(80)

# The words of a cell.
TURN = np.uint64(0)
VALUE = np.uint64(1)
