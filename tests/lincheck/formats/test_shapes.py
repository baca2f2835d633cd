"""EDN histories of every shape that Knossos and Jepsen write: what each comes to, and its verdict."""

import pytest

from latchfree_lincheck import HistoryFormatError, check, read_history
from latchfree_model import UNKNOWN


def events(*rows, wrap="{}"):
    """Return a map for each row (process, type, f, value), one a line."""
    return wrap.format("\n".join(f"{{:process {p}, :type :{t}, :f :{f}, :value {v}}}" for p, t, f, v in rows))


def read(tmp_path, text, **options):
    path = tmp_path / "h.edn"
    path.write_text(text)
    (history,) = read_history(path, **options)
    return history


def calls(history):
    return [(str(one.call), one.result, one.return_ is not None) for one in history.operations]


FAILED = events(
    (7, "invoke", "cas", "[2 3]"),
    (7, "fail", "cas", "[2 3]"),
    (8, "invoke", "write", "2"),
    (8, "ok", "write", "2"),
    (7, "invoke", "cas", "[2 3]"),
    (7, "fail", "cas", "[2 3]"),
    (1, "invoke", "read", "nil"),
    (1, "ok", "read", "2"),
    wrap="[{}]",
)


def test_a_failed_call_says_nothing_unless_it_compared(tmp_path):
    """The second cas would have succeeded, so the history is a violation only if the cas compared."""
    history = read(tmp_path, FAILED)
    assert calls(history) == [("write(2)", None, True), ("read()", 2, True)]
    assert check(history, "cas-register").verdict == "ok"
    compared = read(tmp_path, FAILED, failed="compared")
    assert [each[1] for each in calls(compared)] == [False, None, False, 2]
    assert check(compared, "cas-register").verdict == "violation"


CRASHED = """; reads that know what they will read, pending calls, and commas left out
[{:process 4, :type :invoke, :f :write, :value 2}
 {:process 4, :type :ok, :f :write, :value 2}
 {:process 6, :type :invoke, :f :read, :value nil}
 {:process 20 :type :invoke :f :write :value 1} ; crashes
 {:process 22  :type :invoke, :f :read, :value LAST}
 {:process 21, :type :invoke, :f :read, :value 2}
 {:process 21, :type :ok, :f :read, :value 2}
 {:process 22, :type :ok, :f :read, :value LAST}]
"""


def test_reads_whose_invocation_carries_the_value(tmp_path):
    assert check(read(tmp_path, CRASHED.replace("LAST", "1")), "cas-register").verdict == "ok"
    history = read(tmp_path, CRASHED.replace("LAST", "3"))
    assert [each[2] for each in calls(history)] == [True, False, False, True, True]
    assert check(history, "cas-register").verdict == "violation"


def test_completions_that_say_more(tmp_path):
    text = """({:type :invoke, :f :cas, :value [3 4], :process 62, :time 10}
 {:type :info,
  :f :cas,
  :value [3 4],
  :process 62, :time 20,
  :error
  "clojure.lang.ExceptionInfo: {:t 18, :r [\\"lost contact\\"]}"}
 {:type :invoke, :f :read, :value nil, :process 17, :time 30}
 {:type :fail, :f :read, :value nil, :process 17, :time 40, :error nil}
 {:type :invoke, :f :write, :value 3, :process 18}
 {:type :info, :process 18, :error [:timeout nil]}
 {:process :nemesis, :type :info, :f :start, :value "cut off [:n1]"}
 {:process :nemesis, :type :info}
 {:process :clock, :type :info, :f :strobe, :value {:n1 3}}
 {:type :invoke, :f :read, :process 19, :index -1}
 {:type :ok, :f :read, :value 4, :process 19})"""
    history = read(tmp_path, text)
    assert calls(history) == [("cas(3, 4)", UNKNOWN, False), ("write(3)", UNKNOWN, False), ("read()", 4, True)]
    assert check(history, "cas-register").verdict == "ok"


OBJECTS = {
    "mutex": (
        events((0, "invoke", "acquire", "nil"), (0, "ok", "acquire", "nil"), (1, "invoke", "acquire", "nil")),
        events((1, "ok", "acquire", "nil")),
        "mutex",
    ),
    "queue": (
        events((0, "invoke", "enqueue", 1), (0, "ok", "enqueue", 1), (0, "invoke", "enqueue", 2))
        + events((0, "ok", "enqueue", 2), (1, "invoke", "dequeue", "nil")),
        events((1, "ok", "dequeue", 2)),
        "queue",
    ),
    "set": (
        events((0, "invoke", "add", 1), (0, "ok", "add", 1), (1, "invoke", "read", "nil")),
        events((1, "ok", "read", "#{}")),
        "set",
    ),
    "counter": (
        events((0, "invoke", "add", 1), (0, "ok", "add", 1), (1, "invoke", "read", "nil")),
        events((1, "ok", "read", 3)),
        "counter",
    ),
    "stack": (
        events((0, "invoke", "push", 1), (0, "ok", "push", 1), (1, "invoke", "pop", "nil")),
        events((1, "ok", "pop", 3)),
        "stack",
    ),
}


@pytest.mark.parametrize("model", OBJECTS)
def test_objects_are_told_by_their_functions(model, tmp_path):
    """The last event makes it a violation; if that call is still running the history is fine."""
    text, wrong, hint = OBJECTS[model]
    history = read(tmp_path, text + wrong)
    assert history.model_hint == hint
    assert check(history, hint).verdict == "violation"
    assert check(read(tmp_path, text, model=hint), hint).verdict == "ok"


def test_elements_are_read_from_vectors_and_sets(tmp_path):
    for elements in ("#{2 1}", "[1 2]", "(2 1)"):
        rows = [(0, "invoke", "add", 1), (0, "ok", "add", 1), (0, "invoke", "add", 2), (0, "ok", "add", 2)]
        history = read(tmp_path, events(*rows, (1, "invoke", "read", "nil"), (1, "ok", "read", elements)))
        assert check(history, "set").verdict == "ok"


TUPLES = ("#jepsen.independent/tuple [{} {}]", "#clojure.lang.MapEntry [{} {}]", "#jepsen.independent.Tuple [{} {}]")


@pytest.mark.parametrize("form", [*TUPLES, "[{} {}]"])
def test_independent_keys(form, tmp_path):
    """Key 1 is fine by itself, key :a is not."""
    keyed = form == "[{} {}]"
    rows = [(0, "invoke", "write", form.format(1, 5)), (0, "ok", "write", form.format(1, 5))]
    rows += [(0, "invoke", "read", form.format(1, "nil")), (0, "ok", "read", form.format(1, 5))]
    fine = read(tmp_path, events(*rows), keyed=keyed)
    assert check(fine, "cas-register").verdict == "ok"
    rows += [(1, "invoke", "read", form.format(":a", "nil")), (1, "ok", "read", form.format(":a", 5))]
    wrong = read(tmp_path, events(*rows), keyed=keyed)
    assert [each.object for each in wrong.operations] == ["1", "1", ":a"]
    verdict = check(wrong, "cas-register")
    assert (verdict.verdict, verdict.failing) == ("violation", 2)


def test_plain_pairs_are_values_unless_they_are_keys(tmp_path):
    rows = [(0, "invoke", "write", "[1 5]"), (0, "ok", "write", "[1 5]")]
    rows += [(0, "invoke", "read", "nil"), (0, "ok", "read", "[1 5]")]
    assert check(read(tmp_path, events(*rows)), "cas-register").verdict == "ok"


def test_an_initial_value(tmp_path):
    rows = [(0, "invoke", "cas", "[0 1]"), (0, "ok", "cas", "[0 1]")]
    assert check(read(tmp_path, events(*rows)), "cas-register").verdict == "violation"
    history = read(tmp_path, events(*rows), initial=0)
    assert check(history, "cas-register").verdict == "ok"
    with pytest.raises(ValueError, match="an initial value is for register and cas-register; the model is 'mutex'"):
        read(tmp_path, OBJECTS["mutex"][0], initial=0)


def test_each_key_begins_with_the_initial_value(tmp_path):
    rows = [(p, t, "cas", f"[{p} [0 1]]") for p in (0, 1) for t in ("invoke", "ok")]
    assert check(read(tmp_path, events(*rows), keyed=True, initial=0), "cas-register").verdict == "ok"


def test_processes_with_names(tmp_path):
    rows = [(":a", "invoke", "write", 1), (":a", "ok", "write", 1), (":b", "invoke", "read", "nil")]
    history = read(tmp_path, events(*rows, (":b", "ok", "read", 1)))
    assert [each.process for each in history.operations] == [":a", ":b"]


BEGUN = (0, "invoke", "write", 1)
WRONG = [
    (events(BEGUN, (0, "ok", "write", 2)), 2, "the value 1 of the invocation, got 2"),
    (events(BEGUN, (0, "info", "cas", "nil")), 2, "process 0 to be running a cas, got a write of line 1"),
    (events((0, "invoke", "read", 3), (0, "ok", "read", "nil")), 2, "the value 3 of the invocation, got nil"),
    ("{:process 0, :type :invoke, :f :write}", 1, "the value to write as :value, got none"),
    (events((0, "invoke", "read", 3)) + "\n{:process 0, :type :ok, :f :read}", 2, "the value read as :value, got none"),
    ("{:process 0, :type :invoke, :f :write, :value 1, :value 2}", 1, "each key and element once, got :value twice"),
    (events((0, "invoke", "write", "##NaN")), 1, "a number, got ##NaN"),
    (events((0, "invoke", "write", "foo")), 1, "the value to write, got"),
    (events((0, "invoke", "write", "01")), 1, "a number, a keyword or a symbol, got '01'"),
    (";:process 0, :type :invoke, :f :read}", 1, "a map, or a comment that begins otherwise"),
    ("{:process 0, :type :info, :index 3}{:process 0, :type :info}", 1, "an :index, as in line 1, got None"),
    ("{:process 0, :type :info}\n{:process 0, :type :info, :index 3}", 2, "no :index, as in line 1, got 3"),
    ("{:process 0, :type :ok}", 1, "a keyword as :f, got None"),
    ('[{"process" 0, :x 1}]', 1, "keywords as keys, got 'process'"),
    (events((":x", "ok", "write", 1)), 1, "process :x to be running a write, got no invocation"),
    (events((0, "invoke", "txn", "[[:r 1 nil]]")), 1, ":read, :write or :cas, got :txn"),
    (events((0, "invoke", "add", 1), (0, "ok", "add", 1), (0, "invoke", "cas", "[1 2]")), 3, ":read, got :cas"),
    (
        events((0, "invoke", "write", "#clojure.lang.MapEntry [1 2]"), (1, "invoke", "write", "[1 2]")),
        2,
        "[key value] as :value, got [1 2]",
    ),
    (
        events((0, "invoke", "read", TUPLES[0].format(1, "nil")), (0, "ok", "read", TUPLES[0].format(2, 7))),
        2,
        "the key 1 of line 1, got the key 2",
    ),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG)
def test_malformed_events_are_named(text, line, message, tmp_path):
    with pytest.raises(HistoryFormatError) as error:
        read(tmp_path, text)
    assert error.value.line == line
    assert message in str(error.value)


def test_options_that_make_no_difference_are_refused(tmp_path):
    path = tmp_path / "h.jsonl"
    path.write_text("")
    with pytest.raises(ValueError, match="'keyed' makes no difference to the format jsonl"):
        read_history(path, keyed=True)
    with pytest.raises(ValueError, match="'failed' is 'dropped' or 'compared', not 'lost'"):
        read(tmp_path, FAILED, failed="lost")
