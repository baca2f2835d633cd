"""Where things are in an arena: one region of 64-bit words, addressed by word offset.

Offsets mean the same in every mapping of the region, so nothing inside it holds an address. Offset 0 is the
header, hence never a node: it doubles as "nil".

====================  =========================================================
words                 content
====================  =========================================================
0 .. 63               header (the fields below)
64 .. 575             root directory: 64 entries of 8 words, name -> structure
576 .. 1023           reserved
1024 ..               participant table, then nodes
====================  =========================================================
"""

import numpy as np

MAGIC = 0x6C61746368667265  # "latchfre", big-endian
LAYOUT_VERSION = 1

# header fields
H_MAGIC = np.uint64(0)
H_VERSION = np.uint64(1)
H_CAPACITY = np.uint64(2)  # words in the region
H_BUMP = np.uint64(3)  # first word not yet given to a participant
H_GENERATION = np.uint64(4)  # last generation handed out; 0 is no generation
H_EPOCH = np.uint64(5)  # reserved for reclamation
H_PARTICIPANTS = np.uint64(6)  # offset of the participant table
H_PARTICIPANT_COUNT = np.uint64(7)
H_DIRECTORY = np.uint64(8)  # offset of the root directory
H_CHUNK = np.uint64(9)  # words a participant takes at a time

DIRECTORY = 64
PARTICIPANTS = 1024
PARTICIPANT_COUNT = 256
PARTICIPANT_WORDS = 512

# participant fields; P_STATE is the only one another thread may write
P_STATE = np.uint64(0)  # 0 free, 1 claimed
P_PID = np.uint64(1)
P_START = np.uint64(2)  # start time of the process, in clock ticks since boot
P_PIN = np.uint64(3)  # reserved for reclamation
P_BUMP = np.uint64(4)  # next free word of the chunk in use
P_LIMIT = np.uint64(5)  # end of the chunk in use
P_JOURNALLED = np.uint64(6)  # nodes allocated by the attempt in progress
P_PATH = np.uint64(16)  # I-nodes from the root to the place of a removal
P_FREE = np.uint64(32)  # heads of the free lists, one a size class
P_JOURNAL = np.uint64(128)  # the nodes themselves, at most JOURNAL_CAPACITY

JOURNAL_CAPACITY = 256

#: First word a node may occupy.
FIRST_NODE = PARTICIPANTS + PARTICIPANT_COUNT * PARTICIPANT_WORDS
