"""Files of transactions: every shape that is read, and what is said of the others."""

import json
import random

import pytest
from transaction_databases import run

from latchfree_lincheck import HistoryFormatError
from latchfree_lincheck.formats.edn import EdnError, Keyword, read_edn
from latchfree_lincheck.transactions import Transaction, check_transactions, quick_edn, read_transactions
from latchfree_lincheck.transactions.sniffing import holds_transactions

X, Y = Keyword("x"), Keyword("y")


def read(tmp_path, text):
    path = tmp_path / "history"
    path.write_text(text, encoding="utf-8")
    assert holds_transactions(text)
    return read_transactions(path)


def test_completions_alone(tmp_path):
    """The example of Elle's README."""
    history = read(
        tmp_path,
        """[{:type :ok, :value [[:append :x 1] [:r :y [1]]]}
            {:type :ok, :value [[:append :x 2] [:append :y 1]]}
            {:type :ok, :value [[:r :x [1 2]]]}]""",
    )
    assert history[0] == Transaction((("append", X, 1), ("r", Y, (1,))), line=1)
    assert check_transactions(history).names == ("G1c",)


def test_invocations_and_completions(tmp_path):
    history = read(
        tmp_path,
        """{:index 0, :time 5, :type :invoke, :process 0, :f :txn, :value [[:append 9 2] [:r "k"]]}
           {:index 1, :type :invoke, :process 1, :f :txn, :value [[:append 9 3]]}
           {:index 2, :type :info, :process :nemesis, :f :kill, :value :all}
           {:index 3, :type :ok, :process 0, :f :txn, :value [[:append 9 2] [:r "k" nil]]}
           {:index 4, :type :invoke, :process 0, :f :txn, :value [[:r 9 nil]]}
           {:index 5, :type :info, :process 1, :f :txn, :value [[:append 9 3]], :error :timeout}
           {:index 6, :type :fail, :process 0, :f :txn, :error :aborted}
           {:index 7, :type :invoke, :process 2, :f :txn, :value [[:r 9 nil]]}""",
    )
    assert history == [
        Transaction((("append", 9, 2), ("r", "k", None)), "ok", 0, 0, 2, 4),
        Transaction((("append", 9, 3),), "info", 1, 1, None, 6),
        Transaction((("r", 9, None),), "fail", 0, 3, 5, 7),
        Transaction((("r", 9, None),), "info", 2, 6, None, 8),
    ]


def test_registers(tmp_path):
    first = "{:type :ok :f :txn :process 3 :value [[:w 0 1] [:r 1 nil]]}"
    history = read(tmp_path, first + "\n{:type :ok :value ((:r 0 1))}")
    assert history[0] == Transaction((("w", 0, 1), ("r", 1, None)), process=3, line=1)
    assert check_transactions(history).kind == "rw-register"


def test_json_lines(tmp_path):
    history = read(
        tmp_path,
        """{"process": 0, "transaction": [["append", "x", 1], ["r", "y", [1, 2]]], "invoke": 0, "return": 1}

           {"process": "b", "transaction": [["append", "x", 2]], "invoke": 1, "return": null}
           {"type": "fail", "transaction": [["r", "x", null], ["r", 7]]}""".replace("\n           ", "\n"),
    )
    assert history == [
        Transaction((("append", "x", 1), ("r", "y", (1, 2))), "ok", 0, 0, 1, 1),
        Transaction((("append", "x", 2),), "info", "b", 1, None, 3),
        Transaction((("r", "x", None), ("r", 7, None)), "fail", None, None, None, 4),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{:type :ok :f :txn :value [[:append :x 1]]", ":1: expected '}'"),
        ("{:type :ok :f :txn :value [[:append :x 1]]}\n{:type :maybe :value []}", ":2: expected :invoke, :ok"),
        ("{:type :ok :f :txn :value [[:append :x nil]]}", ":1: expected a value that append writes"),
        ("{:type :ok :f :txn :value [[:add :x 1]]}", ":1: expected append, r, w"),
        ("{:type :ok :f :txn :value [[:append [:x] 1]]}", ":1: expected an integer, a string or a keyword"),
        ("{:type :ok :f :txn :value [[:r :x [1 true]]]}", ":1: expected an integer, a string or a keyword"),
        ("{:type :ok :f :txn :value [[:r :x 1.5]]}", ":1: expected an integer, a string or a keyword"),
        ("{:type :ok :f :txn :value nil}", ":1: expected a vector of micro-operations"),
        ("{:type :ok :f :txn :process 1.5 :value []}", ":1: expected an integer as :process"),
        ("{:index 3 :type :ok :f :txn :value []}\n{:index 3 :type :ok :value []}", ":2: expected an :index greater"),
        (
            "{:type :invoke :process 0 :f :txn :value []}\n{:type :invoke :process 0 :value []}",
            "return of process 0's call of line 1",
        ),
        ("{:type :invoke :f :txn :value []}", ":1: expected a :process"),
        ("{:type :invoke :process 0 :f :txn :value []}\n{:type :ok :process 1 :value []}", "process 1 that has called"),
        (
            "{:type :invoke :process 0 :f :txn :value [[:w :x 1]]}\n{:type :ok :process 0 :value [[:w :x 2]]}",
            ":2: expected the micro-operations of the call of line 1",
        ),
        ("{:f :txn} 7", ":1: expected :invoke, :ok"),
        ('{"transaction": [["append", "x", 1]]', ":1: expected a JSON object"),
        ('{"transaction": [], "transaction": []}', "a field is there twice"),
        ('{"transaction": [], "proces": 1}', "expected the fields process"),
        ('{"transaction": []}\n{"process": 1}', ':2: expected the field "transaction"'),
        ('{"transaction": []}\n[]', ":2: expected a JSON object"),
        ('{"transaction": [["append", "x", NaN]]}', "NaN is not JSON"),
        ('{"transaction": 5}', "expected a list of micro-operations"),
        ('{"transaction": [["r"]]}', "expected a micro-operation"),
        ('{"transaction": [], "type": "good"}', 'expected ok, fail, info as "type"'),
        ('{"transaction": [], "type": "ok", "return": null}', 'expected an integer as "return"'),
        ('{"transaction": [], "process": true}', 'as "process"'),
        ('{"transaction": [], "invoke": "1"}', 'as "invoke"'),
        ('{"transaction": [], "invoke": 4, "return": 3}', 'expected a "return" from 4 on'),
    ],
)
def test_what_is_malformed(tmp_path, text, said):
    with pytest.raises(HistoryFormatError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "history"))


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "history"
    path.write_bytes(b"{:type :ok\n \xff}")
    with pytest.raises(HistoryFormatError, match=":2: expected UTF-8 text"):
        read_transactions(path)


def test_both_formats_say_the_same(tmp_path, rng):
    for kind in ("list-append", "rw-register"):
        history = run(rng, "read-uncommitted", kind, transactions=30)
        calls = [(t.invoke, "invoke", t) for t in history]
        returns = [(t.invoke + 0.5 if t.return_ is None else t.return_, t.type, t) for t in history]
        events = sorted([*calls, *returns], key=lambda event: event[0])
        lines = [
            f"{{:type :{what}, :process {t.process}, :f :txn, :value {edn(t, what)}, :index {index}}}"
            for index, (_, what, t) in enumerate(events)
        ]
        read_edn = read(tmp_path, "\n".join(lines))
        records = [
            {"process": t.process, "type": t.type, "transaction": t.operations, "invoke": t.invoke, "return": t.return_}
            for t in history
        ]
        read_json = read(tmp_path, "\n".join(map(json.dumps, records)))
        wanted = check_transactions(history).anomalies
        assert wanted
        assert [(each.name, each.transactions) for each in check_transactions(read_edn).anomalies] == [
            (each.name, each.transactions) for each in wanted
        ]
        assert [(each.name, each.transactions) for each in check_transactions(read_json).anomalies] == [
            (each.name, each.transactions) for each in wanted
        ]


def edn(transaction, what):
    """The value of an event: reads have results where they committed."""
    parts = []
    for f, key, value in transaction.operations:
        if f == "r" and what == "ok" and isinstance(value, tuple):
            parts.append(f'[:r "{key}" [{" ".join(map(str, value))}]]')
        else:
            known = value if f != "r" or what == "ok" else None
            parts.append(f'[:{f} "{key}" {"nil" if known is None else known}]')
    return f"[{' '.join(parts)}]"


LINE = "{:index 3, :type :ok :process 1, :f :txn :value [[:append :x -1] [:r 9 [1 2]] [:r :y nil]] :time 1.5e3}"


def by_way_of(reader, text):
    try:
        return list(reader(text))
    except EdnError as error:
        return error.line


def test_quick_edn_reads_the_line_of_a_history():
    assert quick_edn._quick(LINE, {}) == next(read_edn(LINE))[1]


def test_quick_edn_is_edn():
    """Texts of whole and damaged lines: the values of the slow reader, or its error."""
    rng = random.Random(7)
    pieces = [*'{}[]() ,:;#\\"1-.eN\n', "nil", "null", "true", ":a", ":a:b", "{:a 1}", "][", "nilnil"]
    pieces += ["#_", "##NaN", "a:b", "01", "\u2028", "} [1]", "} #t [1]"]
    quick = 0
    for _ in range(1500):
        lines = []
        for _ in range(rng.randint(1, 3)):
            line = LINE
            for _ in range(rng.randint(0, 2)):
                start = rng.randrange(len(line))
                line = line[:start] + rng.choice(pieces) + line[start + rng.randint(0, 3) :]
            lines.append(line)
            quick += quick_edn._quick(line, {}) is not None
        text = rng.choice(["{}", "[{}]"]).replace("{}", "\n".join(lines))
        assert by_way_of(quick_edn.read_maps, text) == by_way_of(lambda text: read_edn(text, inside=True), text), text
    assert quick > 1000


def test_damage_never_changes_the_verdict_in_silence(tmp_path, rng):
    """Cut anywhere, a file of one line a transaction is refused, or read up to the end of a line."""
    text = '{"transaction": [["append", "x", 1]]}\n{"transaction": [["r", "x", [1, 2]]]}\n'
    whole = read(tmp_path, text)
    for end in range(len('{"transaction":'), len(text)):
        try:
            cut = read(tmp_path, text[:end])
        except HistoryFormatError:
            continue
        assert cut == whole[: len(cut)]
