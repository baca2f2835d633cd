"""The directory: names, codecs, what a killed opening leaves, and openings whose steps alternate in any order."""

import random
import threading
from contextlib import suppress

import numpy as np
import pytest

from latchfree.arena import directory as module
from latchfree.arena import layout
from latchfree.arena.directory import Directory
from latchfree.arena.entry import CREATING, FREE, OWNED, READY, check_codecs, entries_of, owner_of, state_of
from latchfree.errors import ArenaClosed, DirectoryFull, StructureExists, StructureMissing
from latchfree.structures import CTRIE

ALL = (1 << 64) - 1


@pytest.fixture
def words():
    return np.zeros(layout.PARTICIPANTS, np.uint64)


@pytest.fixture
def directory(words):
    return opening(words, 1)


def opening(words, me, dead=()):
    return Directory(words, me, lambda owner: owner in dead)


def add(directory, name, root=5000, keys="int", values="pickle", dismantle=None):
    return directory.create(
        name, kind=CTRIE, keys=keys, values=values, hash_mask=ALL, build=lambda: root, dismantle=dismantle
    )


def states(words):
    return [state_of(word) for word in entries_of(words)[:, layout.E_STATE].tolist()]


def is_empty(words):
    """Whether all entries are free; they may have been used."""
    return set(states(words)) == {FREE} and not entries_of(words)[:, 1:].any()


class Killed(BaseException):
    """The opening dies: nothing of it runs any more."""


class Mortal:
    """The steps of an opening that dies before one of them."""

    def __init__(self, left):
        self.left = left

    def __getattr__(self, step):
        if self.left == 0:
            raise Killed
        self.left -= 1
        return getattr(ARENA, step)


ARENA = module.ARENA


def killed_at(monkeypatch, left, act):
    """Run `act` by an opening that dies before its step number `left`; return whether it came to that."""
    with monkeypatch.context() as patch:
        patch.setattr(module, "ARENA", Mortal(left))
        try:
            act()
        except Killed:
            return True
    return False


@pytest.mark.parametrize("name", ["a", "users", "x" * 48, "größe", "名" * 16, "with space/and slash"])
@pytest.mark.parametrize("codec", ["int", "c" * 16])
def test_what_is_created_is_found(directory, words, name, codec):
    made = add(directory, name, 4711, keys=codec)
    assert (made.name, made.root, made.keys, made.values, made.hash_mask) == (name, 4711, codec, "pickle", ALL)
    assert directory.find(name) == made
    assert directory.entries() == [made]
    assert opening(words.copy(), 2).find(name) == made, "all of it is in the words"


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
    assert is_empty(words)


def test_remove_takes_no_other_structure_for_the_one_that_was_meant(directory):
    add(directory, "x", 5000)
    with pytest.raises(StructureMissing, match="structure 'x' was removed, and another one has taken its name"):
        directory.remove("x", root=6000)
    assert directory.remove("x", root=5000).root == 5000


def test_an_error_while_building_leaves_nothing(directory, words):
    def build():
        assert states(words)[0] == FREE, "an entry is claimed when the structure is there"
        raise MemoryError("full")

    with pytest.raises(MemoryError, match="full"):
        directory.create("x", kind=CTRIE, keys="int", values="int", hash_mask=0, build=build)
    assert not words.any()
    add(directory, "x")


def test_an_error_while_dismantling_still_removes(directory, words):
    add(directory, "x")

    def fail(entry):
        raise RuntimeError(entry.name)

    with pytest.raises(RuntimeError, match="x"):
        directory.remove("x", fail)
    assert is_empty(words)


def test_what_was_built_is_dismantled_where_there_is_no_entry(directory):
    for k in range(layout.DIRECTORY_ENTRIES):
        add(directory, f"structure {k}")
    freed = []
    with pytest.raises(DirectoryFull):
        add(directory, "one more", 7777, dismantle=freed.append)
    assert freed == [7777]


def test_a_version_tells_one_use_of_an_entry_from_the_next(directory, words):
    for _ in range(5):
        add(directory, "x")
        directory.remove("x")
    assert words[layout.DIRECTORY] == 5 << 3
    words[layout.DIRECTORY] = ((1 << 14) - 1) << 3
    add(directory, "x")
    directory.remove("x")
    assert not words.any(), "versions begin again after 2**14"


@pytest.mark.parametrize("name", ["x", "y"])
@pytest.mark.parametrize("removes", [False, True])
def test_killed_before_any_step_nothing_stays_taken(words, monkeypatch, removes, name):
    came = 0
    for left in range(30):
        words[:] = 0
        old = add(opening(words, 9), "z" if not removes else "x", 4000)
        first = opening(words, 1)
        if not killed_at(monkeypatch, left, lambda: first.remove("x") if removes else add(first, "x")):  # noqa: B023
            break
        came += 1
        second = opening(words, 2, dead={1})
        there = {entry.name: entry for entry in second.entries()}
        assert set(there) <= {"x", "z"}
        freed = sum(state in OWNED for state in states(words))
        assert second.adopt() == freed <= 1
        assert not any(state in OWNED for state in states(words))
        assert {entry.name: entry for entry in second.entries()} == there
        if name not in there:
            add(second, name, 6000)
        assert second.find(name).root in (4000, 5000, 6000)
        assert removes or there["z"] == old
    assert came >= (4 if removes else 6)


def test_entries_of_dead_openings_are_used_where_no_other_is_free(words, monkeypatch):
    for k in range(layout.DIRECTORY_ENTRIES - 1):
        add(opening(words, 1), f"structure {k}")
    assert killed_at(monkeypatch, 4, lambda: add(opening(words, 1), "x"))
    assert states(words)[-1] == CREATING
    with pytest.raises(DirectoryFull):
        add(opening(words, 2), "x")
    assert states(words)[-1] == CREATING, "it may be alive"
    assert add(opening(words, 2, dead={1}), "x") == opening(words, 3).find("x")


def test_nobody_takes_an_entry_of_its_own(words, monkeypatch):
    assert killed_at(monkeypatch, 4, lambda: add(opening(words, 1), "x"))
    assert opening(words, 1, dead={1}).adopt() == 0


def test_a_stopped_proposal_holds_up_nobody_and_loses(words, monkeypatch):
    """It is not dead: its entry stays, and when it goes on, it finds that the name is taken."""
    first, second, freed = opening(words, 1), opening(words, 2), []
    made = []

    class Stops(Mortal):
        def __getattr__(self, step):
            if self.left == 0:
                self.left = 1 << 30
                made.append(add(second, "x", 6000))
            return super().__getattr__(step)

    for left in range(2, 6):
        words[:] = 0
        with monkeypatch.context() as patch:
            patch.setattr(module, "ARENA", Stops(left))
            with pytest.raises(StructureExists):
                add(first, "x", 5000, dismantle=freed.append)
        assert freed.pop() == 5000
        assert first.entries() == [made.pop()]
        assert sum(state != FREE for state in states(words)) == 1


def test_an_interrupt_after_all_was_done_leaves_the_structure(directory, monkeypatch):
    freed = []

    def interrupted(*arguments):
        assert Directory._publish is interrupted
        assert publish(*arguments)
        raise KeyboardInterrupt

    publish = Directory._publish
    monkeypatch.setattr(Directory, "_publish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        add(directory, "x", dismantle=freed.append)
    assert freed == []
    assert directory.find("x").root == 5000


def test_an_arena_closed_meanwhile_is_noticed(directory, words, monkeypatch):
    """A closed arena shows empty memory."""
    claim, freed = Directory._claim, []

    def claimed(self):
        found = claim(self)
        words[:] = 0
        return found

    monkeypatch.setattr(Directory, "_claim", claimed)
    with pytest.raises(ArenaClosed, match="closed while a structure was made"):
        add(directory, "x", dismantle=freed.append)
    assert freed == []


def test_it_is_a_dict(words, rng):
    """Some openings create, remove, find and list, one after another."""
    openings = [opening(words, me) for me in (1, 2, 3)]
    expected = {}
    for k in range(3000):
        one, name = rng.choice(openings), f"n{rng.randrange(70)}" * rng.randrange(1, 4)
        what = rng.random()
        if what < 0.5:
            try:
                entry = add(one, name, 5000 + k)
            except StructureExists:
                assert name in expected
            except DirectoryFull:
                assert len(expected) == layout.DIRECTORY_ENTRIES
            else:
                assert expected.setdefault(name, entry) is entry
        elif what < 0.7:
            try:
                assert one.remove(name) == expected.pop(name)
            except StructureMissing:
                assert name not in expected
        elif name in expected:
            assert one.find(name, CTRIE) == expected[name]
        else:
            with pytest.raises(StructureMissing):
                one.find(name)
        if k % 100 == 0:
            assert one.entries() == [expected[name] for name in sorted(expected)]
            assert all(owner_of(word) == 0 for word in entries_of(words)[:, 0].tolist())


class Alternating:
    """Bodies that run as threads, one step of one of them at a time, chosen at random."""

    def __init__(self, rng):
        self.rng = rng
        self.turns, self.done = {}, threading.Semaphore(0)

    def __getattr__(self, step):
        turn = self.turns[threading.get_ident()]
        self.done.release()
        turn.acquire()
        return getattr(ARENA, step)

    def run(self, bodies):
        ended = []

        def body(act):
            turn = self.turns[threading.get_ident()] = threading.Semaphore(0)
            self.done.release()
            turn.acquire()
            try:
                act()
            finally:
                ended.append(turn)
                self.done.release()

        threads = [threading.Thread(target=body, args=(act,)) for act in bodies]
        for thread in threads:
            thread.start()
            self.done.acquire()
        waiting = list(self.turns.values())
        while waiting := [turn for turn in waiting if turn not in ended]:
            self.rng.choice(waiting).release()
            self.done.acquire()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("seed", range(60))
def test_steps_that_alternate(words, monkeypatch, seed):
    """Three create one name, and a fourth removes it once; a fifth looks."""
    rng = random.Random(seed)
    turns = Alternating(rng)
    made, freed, removed, counts = [], [], [], []

    def create(me):
        with suppress(StructureExists):
            made.append(add(opening(words, me), "x", 5000 + me, dismantle=freed.append))

    def remove():
        for _ in range(4):
            try:
                removed.append(opening(words, 4).remove("x"))
                return
            except StructureMissing:
                pass

    def look():
        for _ in range(4):
            found = opening(words, 5).entries()
            assert all((entry.name, entry.keys) == ("x", "int") and entry.root in (5001, 5002, 5003) for entry in found)
            counts.append(states(words).count(READY))

    monkeypatch.setattr(module, "ARENA", turns)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    turns.run([*(lambda me=me: create(me) for me in (1, 2, 3)), remove, look])
    monkeypatch.undo()
    assert len(counts) == 4, "a look raised"
    assert max(counts) <= 1
    assert {entry.root for entry in made}.isdisjoint(freed)
    assert len(made) + len(freed) <= 3, "one that finds the name taken at once builds nothing"
    assert len(made) - len(removed) == len(opening(words, 6).entries()) == 64 - states(words).count(FREE)
    assert len(made) >= 1


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
