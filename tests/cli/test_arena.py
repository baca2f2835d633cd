"""``latchfree arena``: what it prints, its exit codes, and that looking changes nothing."""

import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from latchfree import Arena, Bloom, Ctrie
from latchfree.arena import directory, layout
from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.topics import ConcurrentTrie
from latchfree_cli import exits
from latchfree_cli.app import app


def run(*arguments: str) -> Result:
    """Run ``latchfree arena``."""
    return CliRunner().invoke(app, ["arena", *arguments])


@pytest.fixture
def path(tmp_path: Path) -> str:
    """An arena with two structures, closed."""
    with Arena.create(path=tmp_path / "arena", capacity=4 << 20) as arena:
        Ctrie.create(arena, "stock", keys=str, values=int).update({"apple": 3, "pear": 5})
        Ctrie.create(arena, "mixed").update({(1, "a"): {"x": [1, None]}, "k": {1, 2}, 7: 1.5})
    return str(tmp_path / "arena")


def spoil(path: str, at: int, value: int) -> None:
    """Overwrite a word of an arena's file."""
    words = np.memmap(path, np.uint64, "r+")
    words[at] = value
    words.flush()


def root_of(path: str, name: str) -> int:
    """Offset of a structure's root record."""
    with Arena.open(path) as arena:
        return arena.directory.find(name).root


def test_info(path: str) -> None:
    before = Path(path).read_bytes()
    result = run("info", path)
    assert result.exit_code == exits.OK, result.output
    assert "closed" in result.stdout
    assert [line.split()[1:8:2] for line in result.stdout.splitlines() if " stock " in line] == [
        ["stock", "str", "int", "2"]
    ]
    assert Path(path).read_bytes() == before


def test_info_as_json_while_it_is_in_use(path: str) -> None:
    with Arena.open(path) as arena:
        Ctrie.open(arena, "stock")["fig"] = 1
        document = json.loads(run("info", path, "--json").stdout)
    assert document["verdict"] == "ok"
    assert document["in_use"] is True
    assert document["capacity"] == 4 << 20
    assert [(each["name"], each["entries"], each["why"]) for each in document["structures"]] == [
        ("mixed", None, "in use"),
        ("stock", None, "in use"),
    ]
    assert [each["alive"] for each in document["participants"]] == [True]


@pytest.mark.parametrize("command", ["info", "fsck", "dump"])
def test_what_is_not_there_and_what_is_no_arena(command: str, tmp_path: Path) -> None:
    result = run(command, str(tmp_path / "none"))
    assert result.exit_code == exits.USAGE
    assert "none: No such file or directory" in result.stderr
    (tmp_path / "file").write_bytes(b"x" * 5_000_000)
    result = run(command, str(tmp_path / "file"))
    assert result.exit_code == exits.USAGE
    assert "not an arena" in result.stderr
    assert run(command, "no such name").exit_code == exits.USAGE


def test_a_name_and_a_file_without_a_slash(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(path).parent)
    assert run("fsck", "arena").exit_code == exits.OK
    with Arena.create(name=f"cli-{Path(path).parent.name}", capacity=4 << 20) as arena:
        try:
            Ctrie.create(arena, "one", keys=int, values=int)[1] = 2
            result = run("dump", f"cli-{Path(path).parent.name}")
            assert json.loads(result.stdout) == {"key": 1, "value": 2}
        finally:
            arena.unlink()


def test_fsck_of_a_clean_arena(path: str) -> None:
    before = Path(path).read_bytes()
    result = run("fsck", path)
    assert result.exit_code == exits.OK, result.output
    assert "stock: whole, 2 entries" in result.stdout
    assert result.stdout.splitlines()[-1] == "clean"
    assert Path(path).read_bytes() == before


def test_fsck_while_it_is_in_use(path: str) -> None:
    with Arena.open(path):
        result = run("fsck", path, "--repair")
    assert result.exit_code == exits.USAGE
    assert path in result.stderr
    assert "in use" in result.stderr


def test_fsck_finds_damage(path: str) -> None:
    root = root_of(path, "stock")
    spoil(path, root + 1, 12)
    before = Path(path).read_bytes()
    result = run("fsck", path, "--repair")
    assert result.exit_code == exits.VIOLATION
    assert "mixed: whole, 3 entries" in result.stdout
    assert f"damaged: structure 'stock': word 12 is no such node, but the trie at word {root}" in result.stdout
    assert result.stdout.splitlines()[-1] == f"latchfree arena fsck {path}"
    assert Path(path).read_bytes() == before
    document = json.loads(run("fsck", path, "--json").stdout)
    assert (document["verdict"], document["repaired"], len(document["damage"])) == ("violation", False, 1)
    result = run("dump", path, "stock")
    assert result.exit_code == exits.USAGE
    assert "structure 'stock' is damaged" in result.stderr
    assert run("dump", path, "mixed").exit_code == exits.OK


def test_fsck_repairs(path: str) -> None:
    spoil(path, layout.H_STATE, layout.IN_USE << layout.STATE_SHIFT | 8)
    result = run("fsck", path)
    assert result.exit_code == exits.VIOLATION
    assert "to repair: in use when the system went down" in result.stdout
    command = result.stdout.splitlines()[-1]
    assert command == f"latchfree arena fsck {path} --repair"
    result = run(*command.split()[2:])
    assert result.exit_code == exits.OK
    assert "repaired" in result.stdout
    document = json.loads(run("fsck", path, "--json").stdout)
    assert (document["clean"], document["leaked_bytes"], document["faults"]) == (True, 0, [])
    with Arena.open(path) as arena:
        assert dict(Ctrie.open(arena, "stock")) == {"apple": 3, "pear": 5}


def test_dump(path: str) -> None:
    lines = [json.loads(line) for line in run("dump", path, "stock").stdout.splitlines()]
    assert sorted(lines, key=str) == [{"key": "apple", "value": 3}, {"key": "pear", "value": 5}]


def test_dump_loads_no_classes(path: str) -> None:
    lines = [json.loads(line) for line in run("dump", path, "mixed").stdout.splitlines()]
    assert len(lines) == 3
    assert {"key": 7, "value": 1.5} in lines
    (by_tuple,) = [line for line in lines if line["value"] == {"x": [1, None]}]
    assert list(by_tuple["key"]) == ["base64"], "a tuple is no JSON"
    (by_text,) = [line for line in lines if line["key"] == "k"]
    assert list(by_text["value"]) == ["base64"]


def test_dump_prints_json_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=16 << 20) as arena:
        Ctrie.create(arena, "points", keys="json", values="json").update({("a", 1): {"x": 2.5, "é": None}})
    (line,) = run("dump", str(path)).stdout.splitlines()
    assert json.loads(line) == {"key": ["a", 1], "value": {"x": 2.5, "é": None}}


def test_dump_to_parquet(path: str, tmp_path: Path) -> None:
    result = run("dump", path, "stock", "--output", str(tmp_path / "stock.parquet"), "--json")
    assert result.exit_code == exits.OK, result.output
    assert json.loads(result.stdout)["entries"] == 2
    assert dict(Ctrie.load(tmp_path / "stock.parquet")) == {"apple": 3, "pear": 5}
    result = run("dump", path, "stock", "--output", str(tmp_path / "none" / "x"))
    assert result.exit_code == exits.USAGE
    assert "no backup was written" in result.stderr


def test_sketches_are_listed_and_not_dumped(tmp_path: Path) -> None:
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=4 << 20) as arena:
        Bloom.create(arena, "seen", 100).add_many(["tea", "oat"])
    (line,) = [line for line in run("info", str(path)).stdout.splitlines() if " seen " in line]
    assert line.split()[1::2] == ["seen", "items", "bits", "2", "Bloom"]
    assert "seen: whole, 2 entries" in run("fsck", str(path)).stdout
    result = run("dump", str(path), "seen")
    assert result.exit_code == exits.USAGE
    assert "structure 'seen' is a sketch: it has no items to print" in result.stderr


def test_dump_wants_to_know_which(path: str) -> None:
    result = run("dump", path)
    assert result.exit_code == exits.USAGE
    assert "name one of its structures: mixed, stock" in result.stderr
    result = run("dump", path, "fruit")
    assert result.exit_code == exits.USAGE
    assert "no structure is called 'fruit'; there are: mixed, stock" in result.stderr
    assert run("dump", path, "stock", "--json").exit_code == exits.USAGE


@pytest.fixture
def topics(tmp_path: Path) -> str:
    """An arena with a topic trie, closed."""
    with Arena.create(path=tmp_path / "topics", capacity=4 << 20) as arena:
        trie = ConcurrentTrie.create(arena, "interests", "mqtt")
        trie.subscribe("sport/+", "ann")
        trie.subscribe("$share/g/sport/#", "bob")
    return str(tmp_path / "topics")


def test_a_topic_trie(topics: str, tmp_path: Path) -> None:
    shown = run("info", topics)
    assert shown.exit_code == exits.OK, shown.output
    assert [line.split()[1:10:2] for line in shown.stdout.splitlines() if " interests " in line] == [
        ["interests", "mqtt", "subscriber", "2", "ConcurrentTrie"]
    ]
    checked = run("fsck", topics)
    assert checked.exit_code == exits.OK, checked.output
    assert "interests: whole, 2 entries" in checked.stdout
    dumped = run("dump", topics)
    assert dumped.exit_code == exits.OK, dumped.output
    found = [json.loads(line) for line in dumped.stdout.splitlines()]
    assert sorted((each["pattern"], each["subscriber"], each["queue"]) for each in found) == [
        ("$share/g/sport/#", "bob", "g"),
        ("sport/+", "ann", None),
    ]
    file = tmp_path / "interests.parquet"
    assert run("dump", topics, "interests", "--output", str(file)).exit_code == exits.OK
    matched = CliRunner().invoke(app, ["match", str(file), "--dialect", "mqtt"], input="sport/golf\n")
    assert json.loads(matched.stdout) == {"topic": "sport/golf", "subscribers": ["ann", "bob"]}


def test_subscribers_of_several_types_take_no_column(topics: str, tmp_path: Path) -> None:
    with Arena.open(topics) as arena:
        ConcurrentTrie.open(arena, "interests").subscribe("a", b"\0")
        ConcurrentTrie.open(arena, "interests").subscribe("a", 5)
    lines = [json.loads(line)["subscriber"] for line in run("dump", topics).stdout.splitlines()]
    assert {"base64": "AA=="} in lines
    assert 5 in lines
    result = run("dump", topics, "--output", str(tmp_path / "file.parquet"))
    assert result.exit_code == exits.USAGE
    assert "of several types" in result.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "topics"]


def test_a_damaged_topic_trie_is_named(topics: str) -> None:
    root = root_of(topics, "interests")
    words = np.memmap(topics, np.uint64, "r")
    main = int(words[int(words[root + 1]) + 1])
    slot = int(words[main + 3])
    del words
    spoil(topics, main + 3, slot ^ 8)
    result = run("fsck", topics)
    assert result.exit_code == exits.VIOLATION
    assert "structure 'interests'" in result.stdout
    assert run("dump", topics).exit_code == exits.USAGE


def stopped_child(body: Callable[[], None]) -> int:
    """Return the process id of a forked child that has stopped itself in `body`."""
    pid = os.fork()
    if pid == 0:
        try:
            body()
        finally:
            os._exit(99)
    assert os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
    return pid


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def test_info_names_who_holds_the_epoch_back(path: str) -> None:
    with Arena.open(path) as arena:
        Ctrie.open(arena, "stock")["fig"] = 1
        pin(*(np.uint64(word) for word in (arena.base, arena.interpreter_participant())))  # compiled before the fork
        unpin(*(np.uint64(word) for word in (arena.base, arena.interpreter_participant())))
        assert json.loads(run("info", path, "--json").stdout)["unfinished"] == []

        def pinned() -> None:
            pin(np.uint64(arena.base), np.uint64(arena.interpreter_participant()))
            stop()

        child = stopped_child(pinned)
        try:
            deadline = time.monotonic() + 300
            while True:
                document = json.loads(run("info", path, "--json").stdout)
                found = [each for each in document["holders"] if each["process"] == child]
                if found and found[0]["seconds"] is not None and found[0]["seconds"] > 0.5:
                    break
                assert time.monotonic() < deadline, document
                time.sleep(0.05)
            assert (found[0]["state"], found[0]["epoch"]) == ("stopped", document["epoch"] - 1)
            assert found[0]["identity"] not in (0, arena.identity)
            text = " ".join(run("info", path).stdout.split())
            who = rf"by process {child} \(stopped, opening 0x[0-9a-f]+\)"
            assert re.search(rf"held back: epoch [\d,]+, {who}, pinned in epoch [\d,]+, for [\d.,]+ s", text), text
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        arena.adopt()
        assert child not in {each["process"] for each in json.loads(run("info", path, "--json").stdout)["holders"]}


def test_info_names_who_is_in_the_midst_of_creating(path: str) -> None:
    calls = directory.ARENA

    class Stops:
        """The calls of the directory; the second change of a state, which publishes the structure, stops it."""

        stop_at = iter((False, True))

        def __getattr__(self, name: str) -> object:
            if name == "change_entry" and next(self.stop_at):
                stop()
            return getattr(calls, name)

    def creating() -> None:
        directory.ARENA = Stops()  # type: ignore[misc, assignment]
        Ctrie.create(arena, "new", keys=int, values=int)

    with Arena.open(path) as arena:
        Ctrie.create(arena, "warm", keys=int, values=int)
        child = stopped_child(creating)
        try:
            (found,) = json.loads(run("info", path, "--json").stdout)["unfinished"]
            assert (found["name"], found["what"], found["process"], found["state"]) == (
                "new",
                "created",
                child,
                "stopped",
            )
            assert f"being created: structure 'new', by process {child} (stopped," in " ".join(
                run("info", path).stdout.split()
            )
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        assert list(arena.structures()) == ["mixed", "stock", "warm"]
        arena.adopt()
        assert json.loads(run("info", path, "--json").stdout)["unfinished"] == []
