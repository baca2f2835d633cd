"""A usual file of JSON Lines and one of EDN, also with a violation; and files that are not usual, by what is not."""

JSONL = (
    '{"history": "h", "process": 0, "f": "write", "arguments": ["a"], "result": null, "invoke": 0, "return": 1}\n'
    '{"history": "h", "process": "p", "f": "read", "arguments": [], "result": "a", "invoke": 2, "return": 3}\n'
    '{"history": "h", "process": 0, "f": "read", "arguments": [], "invoke": 3, "return": null}\n'
)
EDN = (
    "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n"
    "{:process :nemesis, :type :info, :f :start, :value nil}\n"
    "{:process 1, :type :invoke, :f :cas, :value [1 2]}\n{:process 1, :type :ok, :f :cas, :value [1 2]}\n"
    "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 2}\n"
)
BAD_JSONL, BAD_EDN = JSONL.replace('"result": "a"', '"result": "b"'), EDN.replace(":read, :value 2", ":read, :value 1")

UNUSUAL = {
    "a blank at the beginning": JSONL.replace("{", "{ ", 1),
    "true for 1": JSONL.replace('"a"', "1").replace('"result": 1', '"result": true'),
    "1.0 for 1": JSONL.replace('"a"', "1").replace('"result": 1', '"result": 1.0'),
    "minus nothing": JSONL.replace('"a"', "0").replace('"result": 0', '"result": -0'),
    "a large number": JSONL.replace('"a"', "18446744073709551617"),
    "a large time": JSONL.replace('"return": 3', '"return": 9223372036854775808'),
    "a time before": JSONL.replace('"return": 3', '"return": 1'),
    "a list": JSONL.replace('"a"', "[1]"),
    "an object": JSONL.replace('"a"', '{"a": 1}'),
    "an escape": JSONL.replace('"result": "a"', '"result": "\\u0061"'),
    "half of a surrogate pair": JSONL.replace('"result": "a"', '"result": "\\ud800"'),
    "NUL": JSONL.replace('"result": "a"', '"result": "\0"'),
    "not ASCII": JSONL.replace('"a"', '"é"'),
    "not UTF-8": JSONL.encode().replace(b'"a"', b'"\xff"'),
    "a byte order mark": "\ufeff" + JSONL,
    "Windows": JSONL.replace("\n", "\r\n"),
    "a blank line": JSONL + "\n",
    "no end": JSONL[:-1],
    "half a line": JSONL[:-20],
    "a field twice": JSONL.replace('"f": "read"', '"f": "read", "f": "read"'),
    "a field with an escape": JSONL.replace('"f": "read"', '"\\u0066": "read"'),
    "another field": JSONL.replace('"f": "read"', '"g": 1, "f": "read"'),
    "another name": JSONL.replace('"history": "h"', '"history": "i"', 1),
    "no name once": JSONL.replace('"history": "h", ', "", 1),
    "a result of a pending call": JSONL.replace('"invoke": 3', '"result": null, "invoke": 3'),
    "a process twice": JSONL.replace('"p"', "0").replace('"invoke": 2', '"invoke": 1'),
    "an argument that is null": JSONL.replace('["a"]', "[null]"),
    "another function": JSONL.replace('"read"', '"look"'),
    "too many arguments": JSONL.replace('["a"]', '["a", 1]'),
    "NaN": JSONL.replace('"a"', "NaN"),
    "an array": f"[{JSONL}]",
}


UNUSUAL_EDN = {
    "a key": EDN.replace("2}", "2, :key 1}"),
    "a colon": EDN.replace("[1 2]", '[1 ":key "]'),
    "an escape": EDN.replace("[1 2]", '[1 "\\n"]'),
    "an index that does not grow": "".join(f"{line[:-1]}, :index 3}}\n" for line in EDN.splitlines()),
    "one index": EDN.replace("2}", "2, :index 3}", 1),
    "another process": EDN.replace(":nemesis", ":other"),
    "transactions": EDN.replace(":f :read", ":f :txn"),
    "functions of two models": EDN.replace(":f :read", ":f :dequeue"),
    "another value": EDN.replace(":ok, :f :write, :value 1", ":ok, :f :write, :value 3"),
    "two functions": EDN.replace(":ok, :f :write", ":ok, :f :cas"),
    "a comment": EDN + ";\n",
    "a vector": f"[{EDN}]",
    "no end": EDN[:-1],
    "a field twice": EDN.replace(":process 1", ":process 1, :process 1"),
    "a number of Clojure": EDN.replace(":value 2", ":value 2N"),
    "a keyed value": EDN.replace(":value nil", ":value #jepsen.independent/tuple [1 nil]"),
    "no value": EDN.replace(":f :read, :value nil", ":f :read"),
    "a call after it was lost": EDN + EDN.replace(":ok", ":info"),
}
