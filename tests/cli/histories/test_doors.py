"""The same history has the same verdict through every door: file, gzip, zstd, standard input, a pipe."""

import gzip
import json
import os
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from cli_processes import python
from typer.testing import CliRunner, Result

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_lincheck import History, Operation, read_history, write_history

EVENTS = [("invoke", "write", 1), ("ok", "write", 1), ("invoke", "read", "nil"), ("ok", "read", 2)]
"""A violation: 2 was never written."""


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


def violation(format_: str) -> bytes:
    """Return a violation in a format."""
    if format_ in ("jsonl", "parquet"):
        operations = [Operation(0, "write", (1,), None, 0, 1), Operation(0, "read", (), 2, 2, 3)]
        write_history("h", [History("h", operations, "cas-register")], format_)
        return Path("h").read_bytes()
    line = {
        "jepsen-log": "INFO  jepsen.util - 0\t:{kind}\t:{f}\t{value}\n",
        "jepsen-edn": "{{:process 0, :type :{kind}, :f :{f}, :value {value}}}\n",
        "porcupine-kv": '{{:process 0, :type :{kind}, :f :{kv}, :key "k", :value "{value}"}}\n',
    }[format_]
    kv = {"write": "put", "read": "get"}
    return "".join(line.format(kind=kind, f=f, kv=kv[f], value=value) for kind, f, value in EVENTS).encode()


def run(command: str, path: str, *options: str, given: bytes | None = None) -> Result:
    """Run a command on a file."""
    return CliRunner().invoke(app, [command, path, "-o", "page.html" if command == "show" else "out", *options], given)


def zstd(data: bytes) -> bytes:
    """Return compressed bytes."""
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def piped(command: str, data: bytes, *options: str) -> Result:
    """Run a command on a pipe that holds little, as ``<(cat FILE)`` names one."""
    reading, writing = os.pipe()
    with closing(os.fdopen(reading, "rb")):
        with os.fdopen(writing, "wb") as file:
            file.write(data)
        return run(command, f"/dev/fd/{reading}", *options)


@pytest.mark.parametrize("command", ["check", "show", "shrink"])
@pytest.mark.parametrize("format_", ["jsonl", "parquet", "jepsen-log", "jepsen-edn", "porcupine-kv"])
def test_a_violation_is_one_through_every_door(format_: str, command: str) -> None:
    data = violation(format_)
    for ending, packed in (("", data), (".gz", gzip.compress(data)), (".zst", zstd(data))):
        Path(f"h.x{ending}").write_bytes(packed)
        results = [run(command, f"h.x{ending}"), run(command, "-", given=packed), piped(command, packed)]
        assert [each.exit_code for each in results] == [exits.VIOLATION] * 3, results
        Path(f"h.x{ending}").write_bytes(packed[:-1])
        if ending or format_ != "jsonl":  # without its newline, the last object is whole all the same
            expected = exits.VIOLATION if format_ in ("jepsen-edn", "porcupine-kv") and not ending else exits.USAGE
            assert run(command, f"h.x{ending}").exit_code == expected


TRANSACTIONS = {
    "jsonl": b'{"transaction": [["append", "x", 1]]}\n{"transaction": [["r", "x", [1, 2]]]}\n',
    "edn": b"{:type :ok :f :txn :value [[:append :x 1]]}\n{:type :ok :f :txn :value [[:r :x [1 2]]]}\n",
    "odd": b"[{:type :ok, :value, [[:append :x 1]]}\n{:type :ok, :value, [[:r :x [1 2]]]}]",
}
"""A read of an element that nobody appended; `odd` is not recognised, and is given an option."""


@pytest.mark.parametrize("kind", TRANSACTIONS)
def test_transactions_through_every_door(kind: str) -> None:
    data, options = TRANSACTIONS[kind], ["--transactions", "list-append"] if kind == "odd" else []
    for ending, packed in (("", data), (".gz", gzip.compress(data)), (".zst", zstd(data))):
        Path(f"h.x{ending}").write_bytes(packed)
        results = [run("check", f"h.x{ending}", *options), run("check", "-", *options, given=packed)]
        results.append(piped("check", packed, *options))
        assert [each.exit_code for each in results] == [exits.VIOLATION] * 3, results
        for command in () if options else ("show", "shrink"):
            refused = [run(command, f"h.x{ending}"), run(command, "-", given=packed), piped(command, packed)]
            assert [each.exit_code for each in refused] == [exits.USAGE] * 3
            assert "holds transactions, not operations; fix: latchfree check" in refused[0].stderr
        if ending:
            results = [run("check", "-", *options, given=packed[:-1]), piped("check", packed[:-1], *options)]
            assert [each.exit_code for each in results] == [exits.USAGE] * 2


@pytest.mark.parametrize("command", ["check", "show", "shrink"])
def test_nothing_is_nothing_through_every_door(command: str) -> None:
    Path("h.jsonl").write_bytes(b"")
    results = [run(command, "h.jsonl"), run(command, "-", given=b""), piped(command, b"")]
    assert [each.exit_code for each in results] == [exits.NOTHING] * 3


def test_the_command_that_shows_it_again_reads_a_file() -> None:
    """Standard input cannot be read again, so the history is written."""
    result = run("check", "-", given=violation("jepsen-edn"))
    again = result.stdout.splitlines()[-1].split()
    assert again == ["latchfree", "check", "out/check/stdin.jsonl", "--model", "cas-register"]
    assert CliRunner().invoke(app, again[1:]).exit_code == exits.VIOLATION


FAILED = """{:process 0, :type :invoke, :f :cas, :value [0 1]}
{:process 0, :type :fail, :f :cas, :value [0 1]}
"""


@pytest.mark.parametrize("command", ["check", "show", "shrink"])
def test_options_say_what_a_history_means(command: str) -> None:
    """A cas from 0 that did not find the 0 there; without it, the history is empty."""
    Path("h.edn").write_text(FAILED)
    assert run(command, "h.edn").exit_code in (exits.NOTHING, exits.OK)
    assert run(command, "h.edn", "--failed", "compared").exit_code == exits.OK
    result = run(command, "h.edn", "--failed", "compared", "--initial", "0")
    assert result.exit_code == exits.VIOLATION
    if command != "shrink":
        again = result.stdout.splitlines()[-1].split()
        assert again[4:] == ["--failed", "compared", "--initial", "0", "--model", "cas-register"] or set(again) >= {
            "--failed",
            "--initial",
        }
        assert CliRunner().invoke(app, again[1:]).exit_code == exits.VIOLATION
    for wrong in (["--failed", "lost"], ["--initial", "{"], ["--initial", "0", "--model", "mutex"]):
        assert run(command, "h.edn", *wrong).exit_code == exits.USAGE


def test_names_that_are_no_text() -> None:
    """Half of a surrogate pair in a history, and a file whose name is no UTF-8."""
    lines = [
        {"history": "\ud800", "process": "\udfff", "f": "write", "arguments": ["\ud800"], "invoke": 0, "return": 1},
        {"history": "\ud800", "process": 1, "f": "read", "arguments": [], "result": 5, "invoke": 2, "return": 3},
        {"history": "other", "process": 1, "f": "read", "arguments": [], "result": None, "invoke": 2, "return": 3},
    ]
    Path("h.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    name = os.fsdecode(b"\xff.jsonl")
    Path(name).write_bytes(violation("jsonl"))
    program = f"""
import sys
from latchfree_cli import process
from latchfree_cli.main import _command
for words in (["check"], ["show", "-o", "page.html"], ["shrink"], ["check", "--json"]):
    for file in ("h.jsonl", {name!r}):
        sys.argv = ["latchfree", *words, file, "--model", "register"]
        print(process.run(_command, verbose=True), "is the code", flush=True)
"""
    done = python("-c", program)
    codes = [line.split()[0] for line in done.stdout.splitlines() if line.endswith("is the code")]
    assert codes == ["1"] * 8, done.stderr
    assert len(read_history("out/check/h-_.jsonl")[0]) == 2


@pytest.mark.parametrize("nested", ["[" * 300 + "]" * 300, "[" * 390 + "]" * 390, '"' + "x" * 10_000_000 + '"'])
def test_values_that_are_deep_or_long(nested: str) -> None:
    written = f'{{"process": 0, "f": "write", "arguments": [{nested}], "result": null, "invoke": 0, "return": 1}}\n'
    read = f'{{"process": 0, "f": "read", "arguments": [], "result": {nested}, "invoke": 2, "return": 3}}\n'
    Path("h.jsonl").write_text(written + read)
    assert run("check", "h.jsonl", "--model", "register").exit_code == exits.OK
    Path("h.jsonl").write_text(
        written + read.replace('"result": ', '"result": [1,').replace(', "invoke": 2', '], "invoke": 2')
    )
    for command in ("check", "shrink")[: 2 if nested[0] == "[" else 1]:
        assert run(command, "h.jsonl", "--model", "register").exit_code == exits.VIOLATION


@pytest.mark.parametrize("options", [["--model", "cas-register"], ["--transactions", "list-append"]])
@pytest.mark.parametrize("names", [["-", "-"], ["/dev/stdin", "/dev/stdin"], ["-", "/dev/stdin"], ["-", "-", "fine"]])
def test_a_stream_that_is_given_twice_is_refused(names: list[str], options: list[str]) -> None:
    """The second reading found nothing, and took the place of the first: a violation was ok."""
    write_history("fine", [History("h", [Operation(0, "write", (1,), None, 0, 1)], "cas-register")], "jsonl")
    done = python("-m", "latchfree_cli", "check", *names, *options, input=violation("jsonl").decode())
    assert (done.returncode, "one stream, read once" in done.stderr) == (exits.USAGE, True), done


@pytest.mark.parametrize("words", [["check", "-"], ["show", "-"], ["shrink", "-"], ["check", "--follow", "-"]])
def test_a_standard_input_that_is_closed_is_named(words: list[str]) -> None:
    command = ["-m", "latchfree_cli", *words, "--model", "register"]
    done = python("-c", f"import os, sys; os.close(0); os.execv(sys.executable, [sys.executable, *{command!r}])")
    assert (done.returncode, "standard input is closed" in done.stderr) == (exits.USAGE, True), done
