"""Random logs of registers and of key-value stores, as Jepsen and Porcupine write them, and damage to them."""

HEAD = "INFO  jepsen.util - "


def register_log(rng, calls):
    """Return a log of a cas-register with calls that fail, time out, overlap and return what they should not."""
    wrong = rng.choice([0, 0.02, 0.1, 0.3])
    lost = rng.choice([0, 0.05, 0.3])
    values = rng.choice([2, 5, 1000])
    held, lines = None, []

    def begin(process):
        f = rng.choice(["read", "write", "cas"])
        one, other = rng.randrange(values), rng.randrange(values)
        value = {"read": "nil", "write": one, "cas": f"[{one} {other}]"}[f]
        lines.append(f"{HEAD}{process}\t:invoke\t:{f}\t{value}\n")
        return [process, f, value, one, other, None]

    def act(call):
        nonlocal held
        _, f, _, one, other, _ = call
        call[5] = held if f == "read" else held == one if f == "cas" else True
        if f == "write" or (call[5] is True and f == "cas"):
            held = one if f == "write" else other
        if rng.random() < wrong:
            call[5] = rng.randrange(values) if f == "read" else f == "write" or not call[5]

    def end(call):
        process, f, value, _, _, result = call
        if rng.random() < lost:
            kind = rng.choice(["info", "fail"]) if f == "read" else "info"
            lines.append(f"{HEAD}{process}\t:{kind}\t:{f}\t{rng.choice([':timed-out', value])}\n")
            return kind == "fail"
        kind = "fail" if f == "cas" and not result else "ok"
        shown = value if f != "read" else "nil" if result is None else result
        lines.append(f"{HEAD}{process}\t:{kind}\t:{f}\t{shown}\n")
        return True

    _run(rng, calls, begin, act, end)
    return "".join(lines)


def store_log(rng, calls):
    """Return a log of a key-value store; see `register_log`."""
    wrong, lost = rng.choice([0, 0.02, 0.1, 0.3]), rng.choice([0, 0, 0.1])
    held, lines = {}, []
    keys = [rng.choice(["", "k", "key "]) + str(key) for key in range(rng.choice([1, 2, 5]))]

    def line(process, kind, f, key, value):
        shown = "nil" if value is None else f'"{value}"'
        lines.append(f'{{:process {process}, :type :{kind}, :f :{f}, :key "{key}", :value {shown}}}\n')

    def begin(process):
        f, key = rng.choice(["get", "append", "put", "append"]), rng.choice(keys)
        value = None if f == "get" else rng.choice(["", "a", f"x {process} {len(lines)} y", "it's"])
        line(process, "invoke", f, key, value)
        return [process, f, key, value, None]

    def act(call):
        _, f, key, value, _ = call
        before = held.get(key, "")
        if f == "get":
            call[4] = before if rng.random() >= wrong else before[: len(before) // 2] + rng.choice(["", "a"])
        else:
            held[key] = value if f == "put" else before + value

    def end(call):
        process, f, key, value, result = call
        if rng.random() < lost:
            kind = "info" if f != "get" else rng.choice(["info", "fail"])
            line(process, kind, f, key, value)
            return kind == "fail"
        line(process, "ok", f, key, result if f == "get" else value)
        return True

    _run(rng, calls, begin, act, end)
    return "".join(lines)


def _run(rng, calls, begin, act, end):
    """Run some processes at random; one whose call is lost goes on under another number."""
    threads = rng.choice([1, 2, 5])
    names, state = list(range(threads)), [None] * threads
    for _ in range(3 * calls):
        thread = rng.randrange(threads)
        if state[thread] is None:
            state[thread] = [False, begin(names[thread])]
        elif not state[thread][0]:
            act(state[thread][1])
            state[thread][0] = True
        else:
            if not end(state[thread][1]):
                names[thread] += threads
            state[thread] = None


def damaged(rng, text):
    """Return a text with a few bytes, or lines, that are others, twice there, gone or elsewhere."""
    for _ in range(rng.choice([1, 1, 2])):
        kind = rng.randrange(7)
        lines = text.splitlines(keepends=True) or [""]
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(other, lines[at])
        elif kind == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 3:
            place = rng.randrange(len(lines[at]) or 1)
            lines[at] = lines[at][:place] + rng.choice(STRANGE) + lines[at][place + rng.randrange(2) :]
        elif kind == 4:
            lines[at] = rng.choice(STRANGE_LINES)
        elif kind == 5:
            lines = lines[: at + 1]
            lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]
        else:
            lines[at] = lines[at].replace(*rng.choice(EXCHANGED))
        text = "".join(lines)
    return text


STRANGE = [
    "0",
    "1",
    "9",
    " ",
    "\t",
    "\n",
    "\r",
    "\0",
    '"',
    "\\",
    "}",
    "[",
    "]",
    ":",
    "é",
    "\x7f",
    "\ufeff",
    "-",
    "99999999999",
]
STRANGE_LINES = [
    "\n", "INFO  jepsen.core - Worker 0 starting\n", f"{HEAD}:nemesis\t:info\t:start\tnil\n",
    f"{HEAD}0\t:info\t:read\t:timed-out\n", "{:process :nemesis, :type :info, :f :start, :value nil}\n",
    f"{HEAD}00\t:invoke\t:write\t1\n", f"{HEAD}7\t:invoke\t:write\t01\n", f"{HEAD}7\t:invoke\t:write\t2147483648\n",
    f"{HEAD}1000000000000000000\t:invoke\t:write\t1\n", f"{HEAD}999999999999999999\t:invoke\t:write\t1\n",
    '{:process 9, :type :invoke, :f :get, :key ":f :txn", :value nil}\n',
    '{:process 9, :type :invoke, :f :put, :key "0", :value nil}\n',
    '{:process 9, :type :invoke, :f :txn, :key "0", :value nil}\n',
]  # fmt: skip
EXCHANGED = [
    (":ok", ":info"), (":ok", ":fail"), (":fail", ":ok"), (":info", ":ok"), (":invoke", ":ok"), (":read", ":write"),
    (":cas", ":read"), (":get", ":put"), (":append", ":put"), ("nil", ":timed-out"), ("nil", '""'), ("1", "2"),
    ("\n", "\r\n"),
]  # fmt: skip
