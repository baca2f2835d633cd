"""Jepsen logs and EDN histories, and Porcupine's key-value logs."""

import pytest

from latchfree_lincheck import HistoryFormatError, check, read_history
from latchfree_lincheck.formats import detect_format
from latchfree_lincheck.formats.edn import EdnError, Keyword, Symbol, read_edn
from latchfree_model import UNKNOWN

LOG = """\
INFO  jepsen.core - Worker 0 starting
INFO  jepsen.util - 0\t:invoke\t:write\t3
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:ok\t:read\tnil
INFO  jepsen.util - 0\t:ok\t:write\t3
INFO  jepsen.util - :nemesis\t:info\t:start\tnil
INFO  jepsen.util - 1\t:invoke\t:cas\t[1 4]
INFO  jepsen.util - 1\t:fail\t:cas\t[1 4]
INFO  jepsen.util - 2\t:invoke\t:read\tnil
INFO  jepsen.util - 2\t:fail\t:read\t:timed-out
INFO  jepsen.util - 3\t:invoke\t:cas\t[3 2]
INFO  jepsen.util - 3\t:info\t:cas\t:timed-out
INFO  jepsen.util - 4\t:invoke\t:cas\t[2 0]
INFO  jepsen.util - 4\t:ok\t:cas\t[2 0]
INFO  jepsen.util - 5\t:invoke\t:write\t1
INFO  jepsen.util - 5\t:fail\t:write\t:timed-out
INFO  jepsen.util - 1\t:invoke\t:read\tnil
"""

OPERATIONS = [
    ("write", (3,), None, False),
    ("read", (), None, False),
    ("cas", (1, 4), False, False),
    ("cas", (3, 2), UNKNOWN, True),
    ("cas", (2, 0), True, False),
    ("read", (), UNKNOWN, True),
]


def summary(history):
    return [(one.f, one.arguments, one.result, one.return_ is None) for one in history.operations]


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_log_becomes_a_history(tmp_path):
    path = write(tmp_path, "etcd.log", LOG)
    (history,) = read_history(path)
    assert summary(history) == OPERATIONS
    assert (history.name, history.model_hint) == ("etcd", "cas-register")
    assert check(history, "cas-register").verdict == "ok"


def test_a_log_that_is_wrong_is_found_wrong(tmp_path):
    path = write(tmp_path, "etcd.log", LOG.replace(":cas\t[2 0]", ":cas\t[7 0]"))
    (history,) = read_history(path)
    verdict = check(history, "cas-register")
    assert verdict.verdict == "violation"
    assert history.operations[verdict.failing].arguments == (7, 0)


def as_edn(log):
    """Return the log's events as EDN maps."""
    maps = []
    for line in log.splitlines():
        if "jepsen.util" in line:
            process, kind, f, value = line.split(" - ")[1].split("\t")
            maps.append(f"{{:process {process}, :type {kind}, :f {f}, :value {value}, :index {len(maps)}, :time 0}}")
    return maps


@pytest.mark.parametrize("layout", ["{lines}", "[{lines}]", "; comment\n({lines})"])
def test_edn_says_the_same_as_the_log(layout, tmp_path):
    maps = as_edn(LOG)
    path = write(tmp_path, "history.edn", layout.replace("{lines}", "\n".join(maps)))
    (history,) = read_history(path, failed="compared")
    assert summary(history) == OPERATIONS
    (history,) = read_history(path)
    assert summary(history) == [one for one in OPERATIONS if one[2] is not False]


def test_tagged_maps_are_maps(tmp_path):
    path = write(tmp_path, "history.edn", "\n".join(f"#jepsen.history.Op{one}" for one in as_edn(LOG)))
    (history,) = read_history(path, failed="compared")
    assert summary(history) == OPERATIONS


KV = """\
{:process 9, :type :invoke, :f :append, :key "0", :value "x 9 0 y"}
{:process 1, :type :invoke, :f :get, :key "0", :value nil}
{:process 9, :type :ok, :f :append, :key "0", :value "x 9 0 y"}
{:process 1, :type :ok, :f :get, :key "0", :value "x 9 0 y"}
{:process 1, :type :invoke, :f :put, :key "1", :value "z"}
"""


def test_a_porcupine_log_becomes_a_history(tmp_path):
    path = write(tmp_path, "c2.txt", KV)
    (history,) = read_history(path)
    assert summary(history) == [
        ("append", ("0", "x 9 0 y"), None, False),
        ("get", ("0",), "x 9 0 y", False),
        ("put", ("1", "z"), UNKNOWN, True),
    ]
    assert history.model_hint == "append-kv"
    assert check(history, "append-kv").verdict == "ok"


MALFORMED = [
    ("a.log", "INFO  jepsen.util - 0\t:invoke\t:read", 1, "process, :type, :function and value"),
    ("a.log", "INFO  jepsen.util - 0\t:invoke\t:push\t1", 1, ":read, :write or :cas, got :push"),
    ("a.log", "INFO  jepsen.util - 0\t:begin\t:read\tnil", 1, ":invoke, :ok, :fail or :info, got :begin"),
    ("a.log", "INFO  jepsen.util - 0\t:invoke\t:cas\t3", 1, "[expected new] as the value of a cas, got 3"),
    ("a.log", "INFO  jepsen.util - 0\t:invoke\t:read", 1, "process, :type, :function and value"),
    ("a.log", "INFO  jepsen.util - 0\t:invoke\t:write\t[1", 1, "one value, got '[1'"),
    ("a.log", "INFO  jepsen.util - 0\t:invoke\t:write\t:x", 1, "the value to write, got :x"),
    ("a.log", f"{LOG}INFO  jepsen.util - 9\t:ok\t:read\t1", 18, "process 9 to be running a read, got no invocation"),
    ("a.log", f"{LOG}INFO  jepsen.util - 1\t:ok\t:write\t1", 18, "running a write, got a read of line 17"),
    ("a.log", f"{LOG}INFO  jepsen.util - 1\t:invoke\t:write\t1", 18, "process 1's read of line 17, got its call"),
    (
        "a.log",
        f"{LOG}INFO  jepsen.util - 3\t:invoke\t:write\t1",
        18,
        "no call of process 3 after cas(3, 2) of line 11, which is pending",
    ),
    ("a.edn", "{:process 0, :type :invoke\n :f :read", 2, "'}' for the '{' of line 1, got the end"),
    ("a.edn", "{:process 0, :type :invoke, :f}", 1, "a value for every key of a map, got 5 forms"),
    ("a.edn", "{:process 0, :type :invoke, :f :read]", 1, "'}', got ']'"),
    ("a.edn", '{:process "zero", :type :invoke, :f :read}', 1, "an integer as :process, got 'zero'"),
    ("a.edn", "{:process 0, :type 1, :f :read}", 1, "a keyword as :type, got 1"),
    ("a.edn", "{:process 0, :f :read}", 1, "a keyword as :type, got None"),
    ("a.edn", "[{:process 0, :type :invoke, :f :read}\n 7]", 2, "a map, got 7"),
    ("a.txt", KV + '{:process 7, :type :invoke, :f :pop, :key "0"}', 6, ":get, :put or :append, got :pop"),
    ("a.txt", KV + "{:process 7, :type :invoke, :f :get, :key 0}", 6, "a string as :key, got 0"),
    ("a.txt", KV + '{:process 7, :type :invoke, :f :put, :key "0"}', 6, "a string as :value, got None"),
    ("a.txt", KV + '{:process 1, :type :what, :f :put, :key "0"}', 6, ":invoke, :ok, :fail or :info, got :what"),
]


@pytest.mark.parametrize(("name", "text", "line", "message"), MALFORMED)
def test_malformed_files_are_named(name, text, line, message, tmp_path):
    path = write(tmp_path, name, f"{text}\n" if name == "a.log" else text)
    with pytest.raises(HistoryFormatError) as error:
        read_history(path)
    assert str(error.value).startswith(f"{path}:{line}: expected ")
    assert message in str(error.value)


def test_detection(tmp_path):
    assert detect_format(write(tmp_path, "1", LOG)) == "jepsen-log"
    assert detect_format(write(tmp_path, "2", as_edn(LOG)[0])) == "jepsen-edn"
    assert detect_format(write(tmp_path, "3", KV)) == "porcupine-kv"
    assert detect_format(write(tmp_path, "4", '\n{"history": "h"}')) == "jsonl"
    assert detect_format(write(tmp_path, "5.jsonl", "")) == "jsonl"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nil", None),
        ("true", True),
        ("-12", -12),
        ("12N", 12),
        ("1.5e3", 1500.0),
        ("2.5M", 2.5),
        (r'"a\n\"\u00e9 "', 'a\n"é '),
        (":a/b", Keyword("a/b")),
        ("foo", Symbol("foo")),
        (r"[\a \newline \u0041]", ("a", "\n", "A")),
        ("(1, [2 #{3}] {})", (1, (2, frozenset({3})), {})),
        ('{:a 1 #_ :dropped "b" #inst "2020"}', {Keyword("a"): 1, "b": "2020"}),
        ("[1 #_ #_ 2 3 4]", (1, 4)),
        ("; comment\n7 ; more", 7),
        (
            "#:n{:a 1, :_/b 2, :m/c 3, d 4, 5 6}",
            {Keyword("n/a"): 1, Keyword("b"): 2, Keyword("m/c"): 3, Symbol("n/d"): 4, 5: 6},
        ),
    ],
)
def test_edn_values(text, value):
    assert [found for _, found in read_edn(text)] == [value]


@pytest.mark.parametrize(
    "text",
    [
        "[1",
        "]",
        '"abc',
        "{1}",
        "#{{} 1}",
        "{{} 1}",
        r'"\q"',
        "1x",
        ":",
        "#_",
        "#inst",
        "[" * 200,
        "#:n[1]",
        "#:n{:a 1 :n/a 2}",
    ],
)
def test_edn_errors(text):
    with pytest.raises(EdnError):
        list(read_edn(text))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("(def bad [{:a 1}\n {:a 2}])", [1, 2]),
        ("; of the day\n(def\n bad\n [{:a 1} {:b [2]}\n{:a 2}]) {:a 3}", [4, 4, 5, 5]),
        ("({:a 1}\n{:a 2})", [1, 2]),
    ],
)
def test_a_definition_stands_for_its_vector(text, lines):
    assert [line for line, value in read_edn(text, inside=True) if isinstance(value, dict)] == lines


@pytest.mark.parametrize(
    "text", ["(def bad [{:a 1}]", "(def bad [{:a 1}] {:a 2})", "(def bad [{:a 1})", "(def bad [{:a 1}]]"]
)
def test_a_definition_that_is_torn(text):
    with pytest.raises(EdnError):
        list(read_edn(text, inside=True))


def test_a_namespace_or_a_map_around_the_history_is_no_event(tmp_path):
    event = "{:process 0, :type :invoke, :f :read, :value nil}"
    for text, said in ((f"#:jepsen{event}", ":process, got None"), (f"{{:history [{event}]}}", "fix: give its vector")):
        (tmp_path / "h.edn").write_text(text)
        with pytest.raises(HistoryFormatError, match=said):
            read_history(tmp_path / "h.edn")
