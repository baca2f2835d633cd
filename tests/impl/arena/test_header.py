"""The header: what is written, and what is refused."""

import os
import re

import numpy as np
import pytest

from latchfree.arena import header, layout, sealing
from latchfree.arena.directory import Directory
from latchfree.arena.entry import CREATING, OWNED, READY, entries_of, parse_entry, ready
from latchfree.errors import ArenaInvalid, LatchfreeError
from latchfree.structures import CTRIE

CAPACITY = 4 << 20
ROOT = layout.FIRST_NODE + 40
BUMP = layout.FIRST_NODE + 4096


def plain_words():
    words = np.zeros(CAPACITY // 8, np.uint64)
    header.format_header(words)
    return words


def used_words():
    """A region with two structures, three participants and something on a shared list."""
    words = plain_words()
    words[layout.H_BUMP] = BUMP
    words[layout.H_GENERATION] = 12345
    words[layout.H_EPOCH] = 77
    words[layout.H_CLAIMED] = 3
    words[int(layout.SHARED_LISTS) + 5] = ROOT | 9 << 40
    for k, slot in enumerate(header.participants(words)):
        slot[layout.P_STATE] = 1000 * k
        slot[layout.P_PIN] = 76 << 1 | 1 if k == 1 else 0
        slot[layout.P_BUMP] = layout.FIRST_NODE + 100 * k
        slot[layout.P_LIMIT] = layout.FIRST_NODE + 100 * k + 50
    directory = Directory(words, 1, lambda owner: False)
    directory.create("users", kind=CTRIE, keys="str", values="int", hash_mask=(1 << 64) - 1, build=lambda: ROOT)
    directory.create("größe", kind=CTRIE, keys="bytes", values="pickle", hash_mask=3, build=lambda: ROOT + 8)
    return words


def check(words, *, file_bytes=CAPACITY, alone=True, repair=False):
    header.validate(words[: layout.FIRST_NODE], file_bytes, "/some/arena", alone=alone, repair=repair)


def set_slot(field, value, k=1):
    def change(words):
        words[layout.PARTICIPANTS + k * layout.PARTICIPANT_WORDS + int(field)] = value

    return change


def set_entry(field, value, k=0):
    def change(words):
        words[layout.DIRECTORY + k * layout.ENTRY_WORDS + field] = value

    return change


def set_word(field, value):
    def change(words):
        words[field] = value

    return change


def rename(words):
    """Give the second entry the name of the first."""
    first, second = layout.DIRECTORY, layout.DIRECTORY + layout.ENTRY_WORDS
    for field in [layout.E_NAME_LENGTH, *range(layout.E_NAME, layout.ENTRY_WORDS)]:
        words[second + field] = words[first + field]


def seal(words):
    """Close the arena of which these words are the header."""
    sealing.leave(words, 4711, lambda: False, lambda: None)
    assert header.tag(int(words[layout.H_STATE])) == layout.CLEAN


@pytest.mark.parametrize("make", [plain_words, used_words])
@pytest.mark.parametrize("alone", [True, False])
def test_accepts_what_is_in_use(make, alone):
    check(make(), alone=alone)


@pytest.mark.parametrize("make", [plain_words, used_words])
def test_accepts_what_was_closed(make):
    words = make()
    seal(words)
    check(words)
    check(words, alone=False)
    assert sealing.enter(words), "it was sealed"
    assert words[layout.H_STATE] == header.in_use()
    assert not sealing.enter(words)
    check(words)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_word(layout.H_MAGIC, 0x504B030414000000), r"not an arena: it begins with b'PK.*expected b'latchfre'"),
        (set_word(layout.H_VERSION, 9), "layout version 9 is newer than version 8.*open it with a newer latchfree"),
        (set_word(layout.H_VERSION, 7), "layout version 7 is older than version 8.*create it anew"),
        (set_word(layout.H_CAPACITY, CAPACITY // 4), "cut short: 4194304 bytes, and its header says 8388608"),
        (set_word(layout.H_CAPACITY, CAPACITY // 16), "damaged arena: 4194304 bytes, and its header says 2097152"),
        (set_word(layout.H_PARTICIPANTS, 2049), "offset of the participant table is 2049, expected 2048"),
        (set_word(layout.H_PARTICIPANT_COUNT, 255), "number of participants is 255, expected 256"),
        (set_word(layout.H_DIRECTORY, 0), "offset of the directory is 0, expected 128"),
        (set_word(layout.H_CHUNK, 0), "words in a chunk is 0, expected 1 to 524288"),
        (set_word(layout.H_IDENTITY, 0), "its identity is 0"),
        (set_word(11, 5), "reserved word 11 is 5, expected 0"),
        (set_word(layout.HEADER_WORDS - 1, 1), "reserved word 127 is 1, expected 0"),
        (set_word(1280, 7), "reserved word 1280 is 7"),
        (set_word(2047, 7), "reserved word 2047 is 7"),
        (set_word(layout.H_BUMP, layout.FIRST_NODE - 1), "first unused word is 190463, expected 190464 to 524288"),
        (set_word(layout.H_BUMP, CAPACITY // 8 + 1), "first unused word is 524289, expected 190464 to 524288"),
        (set_word(layout.H_GENERATION, 1 << 40), f"generation is {1 << 40}, expected 0 to {(1 << 40) - 1}"),
        (set_word(layout.H_EPOCH, 1 << 62), "the epoch is"),
        (set_word(layout.H_EPOCH, 0), "the epoch is 0"),
        (set_word(layout.H_CLAIMED, 257), "slots ever claimed is 257, expected 0 to 256"),
        (set_slot(layout.P_PIN, 78 << 1 | 1), "epoch pinned of participant 1 is 78, expected 0 to 77"),
        (set_slot(layout.P_PIN, 70 << 1), "pin of participant 1 is 140, expected 0 or an odd number"),
        (set_slot(layout.P_BUMP, 5), "next free word of participant 1 is 5"),
        (
            set_slot(layout.P_LIMIT, BUMP + 1, 2),
            f"end of the chunk of participant 2 is {BUMP + 1}, expected .* to {BUMP}",
        ),
        (set_word(1152 + 91, BUMP), f"head of shared free list 91 is {BUMP}, expected .* to {BUMP - 1}"),
        (set_word(1152, 1 | 1 << 40), "head of shared free list 0 is 1,"),
        (set_entry(layout.E_STATE, 5), "state of directory entry 0 is 5, expected 0 to 4"),
        (set_entry(layout.E_STATE, CREATING), "directory entry 0 is in state 1 and has owner 0"),
        (set_entry(layout.E_STATE, READY | 7 << 17), "directory entry 0 is in state 3 and has owner 7"),
        (set_entry(layout.E_STATE, 0), "directory entry 0 is free but not empty"),
        (set_entry(layout.E_NAME, 1, 63), "directory entry 63 is free but not empty"),
        (set_entry(layout.E_ROOT, BUMP, 1), "root record of directory entry 1 .'größe'. is"),
        (set_entry(layout.E_KIND, 3), "directory entry 0 has structure kind 3, expected one of 1 "),
        (set_entry(layout.E_NAME_LENGTH, 0), "directory entry 0 has name length 0, expected 1 to 48"),
        (set_entry(layout.E_NAME_LENGTH, 49), "directory entry 0 has name length 49, expected 1 to 48"),
        (set_entry(layout.E_NAME_LENGTH, 4), "directory entry 0 has unused bytes that are not zero"),
        (set_entry(layout.E_NAME, 0xFFFFFFFFFF), "directory entry 0 has 'utf-8' codec can't decode"),
        (set_entry(layout.E_KEYS, 0), "directory entry 0 has the name of the key codec .* got ''"),
        (set_entry(layout.E_VALUES, 0xFF), "directory entry 0 has 'ascii' codec can't decode"),
        (set_entry(9, 1), "directory entry 0 has unused bytes that are not zero"),
        (rename, "directory entries 0 and 1 are both named 'users'"),
        (set_word(layout.H_STATE, 1), "its state is 0x0000000000000001, expected 0x636c .closed., 0x6975 .in use. or"),
        (set_word(layout.H_STATE, layout.CLEAN << 48), "the checksum of its header is 0x000000000000, expected 0x"),
        (
            set_word(layout.H_STATE, layout.IN_USE << 48 | 1),
            r"in use when the system went down.*latchfree arena fsck /some/arena --repair",
        ),
        (set_word(layout.H_STATE, layout.SEALING << 48 | 1), "in use when the system went down"),
    ],
)
def test_refuses(change, message):
    words = used_words()
    check(words)
    change(words)
    before = words.copy()
    with pytest.raises(ArenaInvalid, match=rf"^/some/arena: .*{message}") as caught:
        check(words)
    assert isinstance(caught.value, (LatchfreeError, ValueError))
    np.testing.assert_array_equal(words, before)


@pytest.mark.parametrize("size", [0, 7, 8, 4096, header.TABLE_BYTES - 1])
def test_refuses_what_is_too_short(tmp_path, size):
    file = tmp_path / "short"
    file.write_bytes(used_words().tobytes()[:size])
    fd = os.open(file, os.O_RDONLY)
    try:
        with pytest.raises(ArenaInvalid, match=rf"not an arena, or cut short: {size} bytes.*has 1523712"):
            header.validate(header.read(fd), size, str(file), alone=True)
    finally:
        os.close(fd)


def test_the_first_thing_wrong_is_reported_first():
    words = used_words()
    words[layout.H_MAGIC], words[layout.H_VERSION], words[layout.H_CAPACITY] = 1, 9, 9
    with pytest.raises(ArenaInvalid, match="begins with"):
        check(words)
    words[layout.H_MAGIC] = layout.MAGIC
    with pytest.raises(ArenaInvalid, match="newer"):
        check(words)


def test_another_boot_is_accepted_for_repair():
    words = used_words()
    words[layout.H_STATE] ^= np.uint64(2)
    assert not header.is_of_this_boot(int(words[layout.H_STATE]))
    with pytest.raises(ArenaInvalid, match="fsck"):
        check(words, alone=False)
    check(words, repair=True)


@pytest.mark.parametrize("identity", [1, 0xFFFFFF, 1 << 46])
def test_what_is_being_sealed_is_in_use(identity):
    words = used_words()
    words[layout.H_STATE] = header.sealing(identity)
    assert header.is_of_this_boot(int(words[layout.H_STATE]))
    check(words)


def test_others_may_move_the_limit_during_the_check():
    words = used_words()
    set_slot(layout.P_LIMIT, BUMP + 1)(words)
    check(words, alone=False)


def test_half_made_and_half_removed_entries_are_accepted():
    words = used_words()
    for state in OWNED:
        set_entry(layout.E_STATE, state | 9 << 17, 1)(words)
        check(words)


def test_a_free_entry_may_have_a_version():
    words = used_words()
    directory = Directory(words, 1, lambda owner: False)
    directory.remove("users")
    assert words[layout.DIRECTORY + layout.E_STATE] == 1 << 3
    check(words)


def test_an_entry_that_changes_while_it_is_read_is_left_out(tmp_path, monkeypatch):
    """As another process removes a structure and makes one, the words that are read may be of both."""
    words = used_words()
    file = tmp_path / "arena"
    file.write_bytes(words.tobytes())
    read = os.pread

    def torn(fd, count, at):
        data = read(fd, count, at)
        if at == 0:
            readings.append(data)
            if len(readings) == 2:
                field = (layout.DIRECTORY + layout.E_NAME) * 8
                data = data[:field] + b"other" + data[field + 5 :]
        return data

    with file.open("rb") as opened:
        for wrong in (True, False):
            readings = [] if wrong else [b""] * 9
            with monkeypatch.context() as patch:
                patch.setattr(os, "pread", torn)
                found = header.read(opened.fileno())
            check(found)
            assert [entry.name for entry in map(parse_entry, ready(entries_of(found)))] == ["users", "größe"][wrong:]


@pytest.mark.parametrize("capacity", [-1, 0, header.MINIMUM_BYTES - 1, header.MAXIMUM_BYTES + 1])
def test_refuses_a_capacity_out_of_bounds(capacity):
    with pytest.raises(ValueError, match=re.escape(f"(4 MiB) and 4398046511104 bytes (4 TiB), got {capacity}")):
        header.round_capacity(capacity)


def test_rounds_a_capacity_up():
    assert header.round_capacity(header.MINIMUM_BYTES) == 4 << 20
    assert header.round_capacity(header.MINIMUM_BYTES + 1) == 6 << 20
    assert header.round_capacity(header.MAXIMUM_BYTES) == header.MAXIMUM_BYTES
    assert header.MINIMUM_BYTES >= header.TABLE_BYTES + (1 << 20)
