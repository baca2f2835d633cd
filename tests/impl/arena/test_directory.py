"""The directory: names, codecs, and what a killed process leaves."""

import threading

import numpy as np
import pytest

from latchfree.arena import layout
from latchfree.arena.directory import CREATING, FREE, READY, REMOVED, Directory, check_codecs
from latchfree.errors import DirectoryFull, StructureExists, StructureMissing
from latchfree.structures import CTRIE

ALL = (1 << 64) - 1


@pytest.fixture
def words():
    return np.zeros(layout.PARTICIPANTS, np.uint64)


@pytest.fixture
def directory(words):
    lock = threading.Lock()
    return Directory(words, lambda: lock)


def add(directory, name, root=5000, keys="int", values="pickle"):
    return directory.create(name, kind=CTRIE, keys=keys, values=values, hash_mask=ALL, build=lambda: root)


def states(words):
    return words[layout.DIRECTORY : layout.DIRECTORY + 1024 : layout.ENTRY_WORDS].tolist()


class Killed(BaseException):
    """The process dies: nothing of it runs any more."""


def kill_in(directory, monkeypatch, act):
    """Run `act`, whose callback raises `Killed`, without its handlers having any effect."""
    with monkeypatch.context() as patch:
        patch.setattr("latchfree.arena.directory._erase", lambda words: None)
        with pytest.raises(Killed):
            act()


def die(*_):
    raise Killed


@pytest.mark.parametrize("name", ["a", "users", "x" * 48, "größe", "名" * 16, "with space/and slash"])
@pytest.mark.parametrize("codec", ["int", "c" * 16])
def test_what_is_created_is_found(directory, words, name, codec):
    made = add(directory, name, 4711, keys=codec)
    assert (made.name, made.root, made.keys, made.values, made.hash_mask) == (name, 4711, codec, "pickle", ALL)
    assert directory.find(name) == made
    assert directory.entries() == [made]
    assert Directory(words.copy(), threading.Lock).find(name) == made, "all of it is in the words"


@pytest.mark.parametrize("name", ["", "x" * 49, "名" * 17, "a\0b", "\udc80"])
def test_refuses_a_name(directory, words, name):
    with pytest.raises(ValueError, match="structure"):
        add(directory, name)
    assert not words.any()


@pytest.mark.parametrize("codec", ["", "c" * 17, "ü", "a\nb"])
@pytest.mark.parametrize("role", ["key", "value"])
def test_refuses_a_codec_name(directory, words, codec, role):
    with pytest.raises(ValueError, match=f"name of the {role} codec has 1 to 16 ASCII characters"):
        add(directory, "x", **{f"{role}s": codec})
    assert not words.any()


def test_refuses_a_second_one_of_the_same_name(directory, words):
    add(directory, "x")
    before = words.copy()
    with pytest.raises(StructureExists, match="'x' exists already; open it, remove it") as caught:
        add(directory, "x")
    assert isinstance(caught.value, FileExistsError)
    np.testing.assert_array_equal(words, before)


def test_names_what_there_is_when_asked_for_another(directory):
    with pytest.raises(StructureMissing, match=r"^the arena has no structure 'x'; there are: none$"):
        directory.find("x")
    add(directory, "b")
    add(directory, "a")
    with pytest.raises(KeyError, match="there are: 'a', 'b'"):
        directory.remove("x")


def test_holds_sixty_four(directory):
    names = [f"structure {k}" for k in range(layout.DIRECTORY_ENTRIES)]
    for k, name in enumerate(names):
        add(directory, name, 5000 + k)
    with pytest.raises(DirectoryFull, match="has 64 structures, the most it can name; remove one"):
        add(directory, "one more")
    assert [entry.name for entry in directory.entries()] == sorted(names)
    directory.remove(names[30])
    add(directory, "one more", 9999)
    assert directory.find("one more").root == 9999
    assert directory.find(names[63]).root == 5063


def test_remove_leaves_nothing(directory, words):
    made = add(directory, "x")
    seen = []
    assert directory.remove("x", seen.append) == made
    assert seen == [made]
    assert not words.any()


def test_an_error_while_building_leaves_nothing(directory, words):
    def build():
        assert states(words)[0] == CREATING
        raise MemoryError("full")

    with pytest.raises(MemoryError, match="full"):
        directory.create("x", kind=CTRIE, keys="int", values="int", hash_mask=0, build=build)
    assert not words.any()
    add(directory, "x")


def test_an_error_while_dismantling_still_removes(directory, words):
    add(directory, "x")
    with pytest.raises(Killed):
        directory.remove("x", die)
    assert not words.any()


def test_an_entry_whose_creator_was_killed_is_used_again(directory, words, monkeypatch):
    kill_in(
        directory,
        monkeypatch,
        lambda: directory.create("x", kind=CTRIE, keys="int", values="int", hash_mask=0, build=die),
    )
    assert states(words)[0] == CREATING
    assert directory.entries() == []
    add(directory, "y")
    assert states(words)[:2] == [READY, FREE]


def test_an_entry_whose_remover_was_killed_is_used_again(directory, words, monkeypatch):
    add(directory, "x" * 48)
    kill_in(directory, monkeypatch, lambda: directory.remove("x" * 48, die))
    assert states(words)[0] == REMOVED
    with pytest.raises(StructureMissing):
        directory.find("x" * 48)
    made = add(directory, "y")
    assert states(words)[:2] == [READY, FREE]
    assert directory.find("y") == made


def test_codecs_must_agree(directory):
    entry = add(directory, "x", keys="str", values="int")
    check_codecs(entry, keys="str", values="int")
    with pytest.raises(ValueError, match="'x' was created with the key codec 'str', not 'int'; open it with 'str'"):
        check_codecs(entry, keys="int", values="int")
    with pytest.raises(ValueError, match="'x' was created with the value codec 'int', not 'pickle'"):
        check_codecs(entry, keys="str", values="pickle")


def test_threads_that_create_one_name_agree_on_one(directory):
    made, refused = [], []

    def work(k):
        for round_ in range(20):
            try:
                made.append(add(directory, f"s{round_}", 5000 + k))
            except StructureExists:
                refused.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 20
    assert len(refused) == 60
    assert sorted(directory.entries(), key=repr) == sorted(made, key=repr)
