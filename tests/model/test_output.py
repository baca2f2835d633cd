"""Recorded output of TLC: each kind of ending is understood, and nothing unknown is taken for a verdict."""

from pathlib import Path

import pytest

from latchfree_model.tlc.messages import PLAIN, Message, read_messages
from latchfree_model.tlc.result import ResultReader, TlcResult

OUTPUT = Path(__file__).parent / "data" / "output"


def read(name: str, exit_code: int, properties: tuple[str, ...] = ()) -> TlcResult:
    """Return the result of a recorded run."""
    reader = ResultReader(properties)
    for message in read_messages((OUTPUT / f"{name}.txt").read_text().splitlines()):
        reader.feed(message)
    return reader.result(exit_code, 1.0)


@pytest.mark.parametrize(
    ("name", "code", "kind", "violated", "states"),
    [
        ("invariant", 12, "invariant", "NoLostUpdate", 5),
        ("initial", 12, "invariant", "NotZero", 1),
        ("action", 13, "action property", "Jumps", 3),
        ("deadlock", 11, "deadlock", "Deadlock", 4),
        ("temporal", 13, "temporal", "Finishes", 4),
        ("loop", 13, "temporal", "Finishes", 3),
        ("assumption", 10, "assumption", "line 9, col 23 to line 9, col 45 of module Counter", 0),
    ],
)
def test_violations(name: str, code: int, kind: str, violated: str, states: int) -> None:
    result = read(name, code, ("Finishes",))
    assert (result.verdict, result.kind, result.property) == ("violation", kind, violated)
    assert len(result.trace or ()) == states
    assert result.errors
    assert result.reason == ""


def test_ok_with_counts_and_coverage() -> None:
    result = read("ok", 0)
    assert (result.verdict, result.generated, result.distinct, result.depth) == ("ok", 16, 11, 5)
    assert result.coverage == {"Read": (5, 6), "Write": (5, 8), "Done": (0, 1)}
    assert result.trace is None


def test_trace_of_a_violation() -> None:
    trace = read("invariant", 12).trace
    assert trace is not None
    assert [state.action for state in trace.states] == ["Initial predicate", "Read", "Read", "Write", "Write"]
    assert trace.states[1].location == "line 21, col 12 to line 23, col 31 of module Counter"
    assert trace.states[-1].variables["counter"] == 1
    idle = {"pc": "idle", "op": "none", "seen": 0}
    assert trace.states[0].variables["L"] == {"a": idle, "b": idle}
    document = trace.to_json()
    assert document["states"][2]["variables"]["L"]["b"]["pc"] == "write"  # type: ignore[index]


def test_infinite_traces() -> None:
    stuttering, lasso = read("temporal", 13).trace, read("loop", 13).trace
    assert stuttering is not None
    assert stuttering.stuttering
    assert stuttering.back_to is None
    assert lasso is not None
    assert (lasso.stuttering, lasso.back_to) == (False, 2)
    assert [state.variables for state in lasso.states] == [{"x": 0}, {"x": 1}, {"x": 2}]


def test_a_temporal_violation_is_not_named_when_several_could_be_meant() -> None:
    assert read("temporal", 13, ("Finishes", "Returns")).property is None


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("evaluation", 75, "Attempted to apply Head to the empty sequence"),
        ("undefined", 151, "NoSuchThing"),
        ("unparsable", 150, 'Was expecting "==== or more Module body"'),
        ("missing", 255, "nonex.cfg"),
    ],
)
def test_errors_are_unknown_in_the_words_of_tlc(name: str, code: int, words: str) -> None:
    result = read(name, code)
    assert result.verdict == "unknown"
    assert result.reason.startswith(f"TLC ended with exit code {code}: ")
    assert words in "\n".join(result.errors)


@pytest.mark.parametrize(("name", "code"), [("ok", 12), ("ok", 1), ("invariant", 0), ("invariant", 255)])
def test_message_and_exit_code_must_agree(name: str, code: int) -> None:
    assert read(name, code).verdict == "unknown"


def test_a_stopped_run_is_unknown_whatever_it_said() -> None:
    reader = ResultReader()
    for message in read_messages((OUTPUT / "invariant.txt").read_text().splitlines()):
        reader.feed(message)
    result = reader.result(-9, 3.0, "timeout: stopped after 3 s")
    assert (result.verdict, result.reason) == ("unknown", "timeout: stopped after 3 s")


def test_output_cut_short_at_any_line_is_never_ok() -> None:
    lines = (OUTPUT / "ok.txt").read_text().splitlines()
    success = next(index for index, line in enumerate(lines) if "No error has been found" in line)
    for length in range(success):
        reader = ResultReader()
        for message in read_messages(lines[:length]):
            reader.feed(message)
        assert reader.result(0, 1.0).verdict == "unknown", length


def test_a_trace_that_cannot_be_read_is_reported() -> None:
    reader = ResultReader()
    reader.feed(Message(2110, 1, "Invariant I is violated."))
    reader.feed(Message(2217, 4, "1: <Initial predicate>\n/\\ x = <<1"))
    result = reader.result(12, 1.0)
    assert result.verdict == "violation"
    assert "TLC's trace could not be read: variable x: " in result.errors[-1]


def test_progress() -> None:
    seen: list[tuple[int, int, int]] = []
    reader = ResultReader(on_progress=lambda *counts: seen.append(counts))
    text = "Progress(8) at 2026-01-01 10:00:00: 1,234 states generated (9 s/min), 567 distinct states found "
    reader.feed(Message(2200, 0, f"{text}(7 ds/min), 89 states left on queue."))
    assert seen == [(567, 1234, 89)]


def test_nested_messages_and_plain_text() -> None:
    lines = [
        "plain",
        "@!@!@STARTMSG 1000:1 @!@!@",
        "outer : @!@!@STARTMSG 5001:0 @!@!@",
        "inner",
        "@!@!@ENDMSG 5001 @!@!@",
        "@!@!@ENDMSG 1000 @!@!@",
        "@!@!@STARTMSG 2200:0 @!@!@",
        "cut",
    ]
    assert list(read_messages(lines)) == [
        Message(PLAIN, 0, "plain"),
        Message(5001, 0, "inner"),
        Message(1000, 1, "outer : \ninner"),
        Message(2200, 0, "cut"),
    ]


def test_a_simulation_in_which_a_thread_of_tlc_ended_is_never_green() -> None:
    progress = "\n".join(
        (
            "@!@!@STARTMSG 2209:0 @!@!@",
            "Progress(-1) at 2026-11-28 10:21:03: 19131 states generated, -1 distinct states found, -1 states left",
            "@!@!@ENDMSG 2209 @!@!@",
        )
    )
    fault = 'Exception in thread "Thread-1" java.lang.StackOverflowError'
    for lines, verdict in ((progress, "ok"), (f"{progress}\n{fault}", "unknown"), ("", "unknown")):
        reader = ResultReader()
        for message in read_messages(lines.splitlines()):
            reader.feed(message)
        result = reader.simulated(90.0)
        assert result.verdict == verdict
        assert (fault in result.reason) == (fault in lines)
        assert result.generated == (19131 if lines else None)
