"""Keys and values to draw from, and the hash masks that give tries of every form."""

ALL = (1 << 64) - 1

#: What a mask leaves of the hash decides the form of the trie.
MASKS = {
    "flat": ALL,
    "lnodes": 0,  # every key in one L-node below eleven I-nodes
    "narrow": 7,  # eight places in the root, an L-node below each
    "tree": (1 << 0) | (1 << 6) | (3 << 12),  # two children, two grandchildren each, four places below
}

_INTS = [0, 1, -1, 2, 3, 4, 5, 6, 7, 8, 9, (1 << 63) - 1, -(1 << 63), 1 << 32]
_STRS = ["", "a", "b", "ab", "é", "seven77", "eight888", "nine 9999", "x" * 16, "x" * 17, "\0", "\0\0", "日本"]
_BYTES = [b"", b"\0", b"\0\0", b"a", b"ab", b"1234567", b"12345678", b"123456789", b"\xff" * 16, b"\xff" * 15]
_OBJECTS = [None, "a", b"a", 7, -7, 2.5, ("t", 1), ("t", ("u",)), "", 1 << 70, frozenset({3}), "x" * 40]

#: Name of a codec: distinct keys.
KEYS = {"int": _INTS, "str": _STRS, "bytes": _BYTES, "pickle": _OBJECTS}

#: Name of a codec: distinct values, few, so that conditional operations often meet theirs.
VALUES = {
    "int": [0, 1, -1, (1 << 63) - 1],
    "str": ["", "v", "a longer value", "ü"],
    "bytes": [b"", b"v", b"12345678", b"123456789"],
    "pickle": [None, 0, [1, 2], {"k": "v"}],
}

CODECS = [("int", "int"), ("str", "int"), ("bytes", "bytes"), ("pickle", "pickle")]
