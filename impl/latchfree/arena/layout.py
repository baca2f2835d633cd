"""Where things are in an arena: one region of 64-bit words, addressed by word offset.

Example: the epoch is word 32, the directory begins at word 128, and participant 3 at word 2048 + 3 * 736.

Offsets mean the same in every mapping of the region, so nothing inside the region holds an address. Offset 0 is the
header, hence never a node, and stands for "nil".

====================  =========================================================
words                 content
====================  =========================================================
0 .. 127              header (the fields below)
128 .. 1151           root directory: 64 entries of 16 words, name -> structure
1152 .. 1279          shared free lists, one head a size class
1280 .. 2047          reserved, zero
2048 ..               participant table, then nodes
====================  =========================================================
"""

import numpy as np

MAGIC = 0x6C61746368667265  # "latchfre", big-endian
LAYOUT_VERSION = 8

# header: what never changes
H_MAGIC = np.uint64(0)
H_VERSION = np.uint64(1)
H_CAPACITY = np.uint64(2)  # words in the region
H_PARTICIPANTS = np.uint64(3)  # offset of the participant table
H_PARTICIPANT_COUNT = np.uint64(4)
H_DIRECTORY = np.uint64(5)  # offset of the root directory
H_CHUNK = np.uint64(6)  # words a participant takes at a time
H_IDENTITY = np.uint64(7)  # random: two arenas of one name can be told apart

# header: what changes when the region is opened and closed
H_STATE = np.uint64(8)  # a tag (CLEAN, SEALING, IN_USE) and below the tag 48 bits that depend on it

# header: what operations change, each on a cache line of its own
H_BUMP = np.uint64(16)  # first word not yet given to a participant
H_GENERATION = np.uint64(24)  # last generation handed out; 0 is no generation
H_EPOCH = np.uint64(32)  # reclamation epoch; a node retired in epoch e is free in e + 2
H_CLAIMED = np.uint64(40)  # participant slots ever claimed: the slots in use are among the first so many
H_OWNED = np.uint64(48)  # newest table of what openings own, kept by the structure whose it is; 0: none
H_SEEN_EPOCH = np.uint64(56)  # the epoch when a reaper last saw a new one, and
H_SEEN_AT = np.uint64(57)  # when that was: nanoseconds since boot; for people only

HEADER_WORDS = 128
# tags of the state, in its upper 16 bits
CLEAN = 0x636C  # closed in good order; the lower bits are the checksum of header and directory
SEALING = 0x7365  # somebody is about to mark the arena as clean; 24 bits of the boot, and 24 that tell who
IN_USE = 0x6975  # open, or the last to have it open was killed; the lower bits tell in which boot
STATE_SHIFT = 48

DIRECTORY = 128
DIRECTORY_ENTRIES = 64
ENTRY_WORDS = 16
SHARED_LISTS = np.uint64(1152)
PARTICIPANTS = 2048
PARTICIPANT_COUNT = 256
PARTICIPANT_WORDS = 736

# fields of a directory entry
E_STATE = 0  # state, version and owner, see latchfree.arena.entry
E_ROOT = 1  # offset of the structure's root record
E_KIND = 2  # number of its kind, see latchfree.structures
E_NAME_LENGTH = 3  # bytes of UTF-8, at most 48
E_KEYS = 4  # two words: name of the key codec (or dialect), at most 16 bytes of ASCII, zero-padded
E_VALUES = 6  # two words: name of the value codec
E_HASH_MASK = 8
E_NAME = 10  # six words

# fields of a participant, the first line: who it is (written by its owner, and by whoever adopts it)
P_STATE = np.uint64(0)  # 0 free, else the identity of the opening that owns it, above 16 bits of its incarnation
P_INCARNATION = np.uint64(3)  # counts claims
P_PID = np.uint64(4)  # process id of the owner, as the owner sees it; for people only
P_ADDRESS = np.uint64(5)  # address of word 0 in the owner's process, where memory is reserved through it; else 0
P_FD = np.uint64(6)  # descriptor, plus one, through which memory is reserved instead (before Linux 5.14); else 0
# the second line: read by everybody
P_PIN = np.uint64(8)  # 0, or the epoch pinned shifted left by one, plus one
P_IN_HAND = np.uint64(9)  # offset that the call under way may have claimed from its structure; 0: none
# private to the owner
P_BUMP = np.uint64(16)  # next free word of the chunk in use
P_LIMIT = np.uint64(17)  # end of the chunk in use
P_JOURNALLED = np.uint64(18)  # nodes allocated by the attempt in progress
P_FAILED = np.uint64(19)  # the attempt ran out of memory and wrote into the sink
P_URGENT = np.uint64(20)  # the attempt may use the arena's reserve
P_LIVE = np.uint64(21)  # words allocated minus words freed by this participant, modulo 2**64
P_RETIRED = np.uint64(22)  # nodes retired since the last attempt to advance the epoch
P_OLDEST = np.uint64(23)  # limbo: first block of a queue of retired nodes
P_NEWEST = np.uint64(24)  # and its last
P_DEFERRED = np.uint64(25)  # what its structure may free now, linked through first words
P_SPARES = np.uint64(26)  # list of empty blocks
P_SPARE_COUNT = np.uint64(27)
P_SCRATCH_LIST = np.uint64(28)  # a word of the structure whose operation is under way
P_HOLDERS = np.uint64(29)  # nodes that nobody reads any more but hold something, linked through second words
P_DROPPER = np.uint64(30)  # the thread that lets go of what such nodes hold, 0 for none
P_SCRATCH = np.uint64(32)  # 32 words of the same
P_FREE = np.uint64(64)  # heads of the free lists, one a size class
P_LENGTH = np.uint64(192)  # their lengths
P_JOURNAL = np.uint64(320)  # the nodes themselves, at most JOURNAL_CAPACITY
P_SCRATCH_MORE = np.uint64(480)  # 32 words of the structure whose operation is under way
P_SINK = np.uint64(512)  # where an attempt writes that has run out of memory
P_EDGE = np.uint64(640)  # in each free list longer than a batch, the node above the batch that would travel

#: Bits of an incarnation in the state of a participant.
IDENTITY_SHIFT = np.uint64(16)

JOURNAL_CAPACITY = 160
SINK_WORDS = 128

#: First word a node may occupy.
FIRST_NODE = PARTICIPANTS + PARTICIPANT_COUNT * PARTICIPANT_WORDS
