"""A program becomes a daemon: two forks, all descriptors closed, and the numbers taken by other files."""

from programs import Program, wait_for

from latchfree import Arena, Ctrie
from latchfree_fsck import fsck, inspect

DAEMON = """
    import os, sys, time
    from pathlib import Path
    from latchfree import Arena, Ctrie

    path, folder = map(Path, sys.argv[1:])
    arena = Arena.open(path)
    numbers = Ctrie.open(arena, "numbers")
    numbers.put_many([500], [500])

    def say(word):
        (folder / "saying").write_text(word)
        (folder / "saying").rename(folder / word)

    def wait_for(word):
        end = time.monotonic() + 300  # the test may be gone
        while not (folder / word).exists():
            assert time.monotonic() < end
            time.sleep(0.01)

    def live():
        os.closerange(0, 4096)
        others = [os.open(folder / f"other{n}", os.O_RDWR) for n in range(64)]
        for first in range(1000, 41000, 1000):
            keys = list(range(first, first + 1000))
            numbers.put_many(keys, keys)
        with numbers.readonly_snapshot() as snapshot:
            assert len(snapshot) == 40101
        say("filled")
        wait_for("go")
        for key in range(1000, 41000):
            assert numbers[key] == key
        numbers.remove_many(list(range(1000, 41000)))
        arena.close()
        assert all(os.fstat(fd).st_size == 5 for fd in others)  # none of them was closed either
        say("ended")

    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            try:
                live()
            except BaseException as error:
                (folder / "error").write_text(repr(error))
                os._exit(1)
            sys.exit()
        os._exit(0)
    os.wait()
    os._exit(0)  # as the parents of daemons do
"""


def test_files_that_take_the_numbers_of_closed_descriptors_are_left_alone(path, tmp_path):
    folder = tmp_path / "daemon"
    folder.mkdir()
    others = [folder / f"other{n}" for n in range(64)]
    for other in others:
        other.write_text("hello")

    def said(word):
        assert not (folder / "error").exists(), (folder / "error").read_text()
        return (folder / word).exists()

    with Program(DAEMON, path, folder) as program:
        program.ended()
        wait_for(lambda: said("filled"))
        assert inspect(path=path).in_use, "the daemon has it open"
        with Arena.open(path) as arena:
            numbers = Ctrie.open(arena, "numbers")
            assert arena.adopt() == 0
            assert len(numbers) == 40101
            numbers.update(dict.fromkeys(range(100), 1))
        assert not inspect(path=path).sealed
        (folder / "go").touch()
        wait_for(lambda: said("ended"))
    assert [other.read_text() for other in others] == ["hello"] * 64
    with Arena.open(path) as arena:
        assert dict(Ctrie.open(arena, "numbers")) == {500: 500} | dict.fromkeys(range(100), 1)
    assert not fsck(path=path, repair=True).damage
    assert path.stat().st_size == 64 << 20
