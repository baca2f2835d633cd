"""The page in a real browser: loaded from the disk, driven by keys, pointer and wheel, read back pixel by pixel."""

import base64
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from lincheck_random import KINDS, model_of, random_history
from show_browser import Browser, browser
from show_histories import map_history

from latchfree_explore import explore
from latchfree_explore.examples.counter import LOST_UPDATE
from latchfree_explore.page import steps_of
from latchfree_lincheck import History, Operation
from latchfree_lincheck.show import Judged, judge_parts, page, save
from latchfree_lincheck.show.states import Trail
from latchfree_model import UNKNOWN

pytestmark = pytest.mark.browser

BAD = [(200, 35, 44), (255, 92, 92)]
"""The red of the failing bar, in light and dark."""

CENTRE = """
const s = latchfree.stage, r = s.canvas.getBoundingClientRect(), b = s.box(SEEN);
return [r.left + b.x + Math.min(b.w, 40) / 2, r.top + b.y + b.h / 4];
"""


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


@pytest.fixture
def load(window: Browser, tmp_path: Path) -> Iterator:
    """Open a page of judged histories; afterwards the console must have said nothing."""

    def opened(*judged: Judged, dark: bool = False) -> Browser:
        file = tmp_path / "page.html"
        save(file, page(judged))
        window.open(file, dark=dark)
        return window

    yield opened
    assert window.complaints() == []


def centre(window: Browser, operation: int) -> tuple[float, float]:
    """Return a point inside an operation's bar."""
    x, y = window.run(CENTRE.replace("SEEN", str(operation)))
    return x, y


def colour(window: Browser, x: float, y: float, file: Path) -> tuple[int, ...]:
    """Return the colour of a pixel of the screenshot, which is a PNG of 8-bit RGB or RGBA."""
    window.screenshot(file)
    data, at, packed, wide, channels = file.read_bytes(), 8, b"", 0, 3
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            wide, channels = struct.unpack(">I", body[:4])[0], {2: 3, 6: 4}[body[9]]
        packed += body if kind == b"IDAT" else b""
        at += length + 12
    raw, above = zlib.decompress(packed), bytearray(wide * channels)
    for number in range(int(y) + 1):
        start = number * (wide * channels + 1)
        above = _unfilter(raw[start], bytearray(raw[start + 1 : start + 1 + wide * channels]), above, channels)
    return tuple(above[int(x) * channels : int(x) * channels + 3])


def _unfilter(kind: int, row: bytearray, above: bytearray, channels: int) -> bytearray:
    """Undo one row's filter (PNG specification, section 9)."""
    for i in range(len(row)):
        left = row[i - channels] if i >= channels else 0
        corner = above[i - channels] if i >= channels else 0
        paeth = min((left, above[i], corner), key=lambda each: abs(left + above[i] - corner - each))
        row[i] = (row[i] + (0, left, above[i], (left + above[i]) // 2, paeth)[kind]) & 255
    return row


@pytest.fixture(scope="module")
def large() -> Judged:
    """Ten thousand operations with a violation."""
    return judge_parts(map_history(10_000, 1, keys=16, wrong=True, whole=True), "map", source="large.jsonl")


@pytest.mark.parametrize("dark", [False, True])
def test_ten_thousand_operations_with_a_violation(load, large: Judged, tmp_path: Path, dark: bool) -> None:
    window = load(large, dark=dark)
    failing = large.verdict.failing
    assert window.run("return latchfree.selected") == failing
    assert window.run("return document.title") == "✗ not linearizable: map of 10,000"
    message = window.run("return document.getElementById('message').textContent")
    assert message == f"{large.verdict.reason}: {large.verdict.message}"
    x, y = centre(window, failing)
    assert colour(window, x - 12, y - 1, tmp_path / "shot.png") == BAD[dark]
    times = window.run("return [...Array(20)].map(() => { const t = performance.now(); latchfree.stage.draw();"
                       " return performance.now() - t; })")  # fmt: skip
    print(f"drawn in {sorted(times)[10]:.1f} ms")


def test_e_jumps_to_the_error(load, large: Judged) -> None:
    window = load(large)
    window.keys("\ue00c0")
    assert window.run("return latchfree.selected") == -1
    everything = window.run("return latchfree.stage.scale")
    window.keys("e")
    assert window.run("return latchfree.selected") == large.verdict.failing
    assert window.run("return latchfree.stage.scale") > 10 * everything
    wide, box = window.run("return [latchfree.stage.wide, latchfree.stage.box(latchfree.selected)]")
    assert 0 < box["x"] < box["x"] + box["w"] < wide
    assert window.run("return document.querySelector('#operation .mark1') !== null")


def test_hovering_tells_call_place_and_states(load) -> None:
    judged = judge_parts(map_history(20, 1, processes=3, keys=3, whole=True), "map")
    window = load(judged)
    order = judged.parts[0].order
    state = judged.model.init()
    for place, index in enumerate(order):
        call = judged.history.operations[index].call
        before = Trail(state, pairs=True).items[1:]
        _, state = judged.model.step(state, call)
        after = Trail(state, pairs=True).items[1:]
        window.move(*centre(window, index))
        read = "e => [...e.querySelectorAll('code')].map(c => c.textContent)"
        tip = window.run(
            "const t = document.getElementById('tip');"
            f"return [t.hidden, ({read})(t.querySelector('.call')), t.querySelector('p').textContent,"
            f" [...t.querySelectorAll('.state')].map({read})]"
        )
        states = [before] if after == before else [before, after]
        standing = f"number {place + 1} of {len(order)} in the order"
        process = judged.history.operations[index].process
        assert tip == [False, [str(call), repr(call.result)], f"process {process}, {standing}", states], index


def test_states_at_ten_thousand_operations_are_the_models(load, large: Judged) -> None:
    window = load(large)
    script = "return latchfree.history.raw.parts[0].order.map(i => latchfree.history.around(i).after.length)"
    lengths = window.run(script)
    state, expected = large.model.init(), []
    for index in large.parts[0].order:
        _, state = large.model.step(state, large.history.operations[index].call)
        expected.append(len(state) + 1)
    assert lengths == expected
    last = window.run("const h = latchfree.history, o = h.raw.parts[0].order; return h.around(o[o.length - 1]).after")
    assert last == Trail(state, pairs=True).items


def test_points_lie_in_their_bars_and_in_order(load) -> None:
    judged = [
        judge_parts(random_history(kind, seed, most=9), model_of(kind))
        for kind in KINDS
        for seed in range(60)
    ]  # fmt: skip
    judged.append(judge_parts(map_history(2_000, 3, pending=3, wrong=True), "map"))
    tied = [Operation(p, "put" if p % 2 else "get", (1, p)[: 1 + p % 2], UNKNOWN, p // 2, p // 2 + 1) for p in range(9)]
    judged.append(judge_parts(History("tied", tied), "map"))
    window = load(*judged)
    wrong = window.run("""
        const wrong = [];
        latchfree.data.histories.forEach((_, number) => {
          latchfree.open(number);
          for (const byClock of [false, true]) {
            latchfree.byClock = byClock;
            latchfree.relayout();
            const h = latchfree.history, l = latchfree.stage.layout;
            for (const part of h.raw.parts) {
              let last = -Infinity;
              for (const i of part.order) {
                const x = l.point[i];
                const after = last < x || (byClock && last === x);
                if (!(after && l.x0[i] <= x && x <= l.x1[i])) wrong.push([number, i, byClock, last, x]);
                last = x;
              }
              for (const [i] of part.next) {
                const x = l.point[i];
                if (!(last <= x && l.x0[i] <= x && x <= l.x1[i])) wrong.push([number, i, byClock, last, x]);
              }
            }
          }
        });
        return wrong;
    """)
    assert wrong == []


def test_keys_walk(load) -> None:
    judged = judge_parts(map_history(60, 5, processes=4, keys=3), "map")
    window = load(judged)
    sequence = window.run("return latchfree.stage.layout.sequence")
    walked = []
    for _ in range(6):
        window.keys("j")
        walked.append(window.run("return latchfree.selected"))
    assert walked == sequence[:6]
    window.keys("k")
    assert window.run("return latchfree.selected") == sequence[4]
    operations = judged.history.operations
    here = operations[sequence[4]]
    window.keys("\ue014")
    after = operations[window.run("return latchfree.selected")]
    mine = sorted((o for o in operations if o.process == here.process), key=lambda o: o.invoke)
    assert after is mine[mine.index(here) + 1]
    window.keys("\ue015")
    assert operations[window.run("return latchfree.selected")].process == here.process + 1
    window.keys("\ue010")
    last = operations[window.run("return latchfree.selected")]
    assert last.invoke == max(o.invoke for o in operations if o.process == last.process)
    live = window.run("return document.getElementById('live').textContent")
    assert live.startswith(f"process {last.process}: {last.call}")


def test_zoom_and_pan(load, large: Judged) -> None:
    window = load(large)
    window.keys("\ue00c0")
    scale = window.run("return latchfree.stage.scale")
    window.keys("++")
    assert window.run("return latchfree.stage.scale") == pytest.approx(scale * 2.25)
    x, y = 600, 300
    before = window.run(f"return latchfree.stage.worldX({x})")
    window.wheel(x, y, -200)
    assert window.run("return latchfree.stage.scale") > scale * 2.26
    assert window.run(f"return latchfree.stage.worldX({x})") == pytest.approx(before)
    window.keys("-----0")
    assert window.run("return [latchfree.stage.scale, latchfree.stage.left]") == [pytest.approx(scale), 0]


def test_search_and_filter(load) -> None:
    history = map_history(300, 6, keys=5)
    window = load(judge_parts(history, "map"))
    window.keys("/key:3 f:get")
    expected = {i for i, o in enumerate(history.operations) if o.f == "get" and o.arguments == (3,)}
    assert set(window.run("return [...latchfree.matches]")) == expected
    window.keys("\ue007")
    assert window.run("return latchfree.selected") in expected
    window.keys("\ue00co")
    shown = window.run("return latchfree.stage.layout.shown")
    assert shown == [i for i, o in enumerate(history.operations) if o.arguments[0] == 3]
    assert window.run("return latchfree.stage.layout.width") == 2 * len(shown)
    window.keys("o")
    assert len(window.run("return latchfree.stage.layout.shown")) == 300


def test_several_violations_and_histories(load) -> None:
    wrong = [Operation(0, "get", (key,), 1, 2 * i, 2 * i + 1) for i, key in enumerate("abc")]
    window = load(judge_parts(map_history(10, 1), "map"), judge_parts(History("three", wrong), "map"))
    assert window.run("return [latchfree.number, latchfree.selected]") == [1, 0]
    seen = []
    for key in "eeeE":
        window.keys(key)
        seen.append(window.run("return latchfree.selected"))
    assert seen == [1, 2, 0, 2]
    window.keys("[")
    assert window.run("return [latchfree.number, document.body.className]") == [0, "ok"]


def test_nothing_in_a_value_runs(load) -> None:
    text = "</script><img src=x onerror=\"document.title='broken'\"><!--"
    calls = [(text, "write", (text,), None), (2, "read", (), text), (1, "read", (), None)]
    operations = [Operation(*call, 2 * i, 2 * i + 1) for i, call in enumerate(calls)]
    steps = [{"thread": 0, "kind": text, "text": text, "value": text}]
    window = load(judge_parts(History(text, operations), "register", source=text, steps=steps))
    for operation in range(3):
        window.move(*centre(window, operation), click=True)
        assert window.run("return [document.title, document.images.length]") == [f"✗ not linearizable: {text}", 0]
    assert window.run("return document.querySelector('#steps td code').textContent") == text


def test_the_page_runs_no_script_but_its_own(window: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    text = page([judge_parts(map_history(5, 1), "map")])
    save(file, text.replace("<noscript>", "<script>document.title = 'broken'</script><noscript>"))
    window.open(file)
    assert window.run("return document.title") == "✓ linearizable: map of 5"
    assert any("Content Security Policy" in words for words in window.complaints())


def test_steps_stand_in_columns(load) -> None:
    steps = [{"thread": thread, "kind": "cas", "file": "gcas.py", "line": 7, "address": 64} for thread in (0, 1, 1, 0)]
    window = load(judge_parts(map_history(5, 1), "map", steps=steps))
    assert window.run("return document.querySelector('#steps h2').textContent") == "4 steps of 2 threads, 2 switches"
    cells = "return [...document.querySelectorAll('#steps tbody tr')].map(r => r.querySelectorAll('td')[0].textContent)"
    assert window.run(cells) == ["cas [64]gcas.py:7", "", "", "cas [64]gcas.py:7"]


@pytest.mark.parametrize("dark", [False, True])
def test_an_exploration(load, tmp_path: Path, dark: bool) -> None:
    failure = explore(LOST_UPDATE, scenario="increment; read | increment").failure
    assert failure is not None
    steps = steps_of(failure)
    judged = judge_parts(failure.history, LOST_UPDATE.model, steps=steps)
    window = load(judged, dark=dark)
    read = """
        return [...document.querySelectorAll('#steps tbody tr')].map(row => {
          const cells = [...row.querySelectorAll('td')].map(cell => [...cell.children].map(c => c.textContent));
          return [Number(row.cells[0].textContent), row.className, row.querySelector('.aside') !== null, cells];
        });
    """
    rows = window.run(read)
    assert [number for number, *_ in rows] == list(range(len(steps)))
    assert [name == "switch" for _, name, *_ in rows] == [
        k > 0 and step["thread"] != steps[k - 1]["thread"] for k, step in enumerate(steps)
    ]
    words = [cells[step["thread"]] for (*_, cells), step in zip(rows, steps, strict=True)]
    assert all(cells[1 - step["thread"]] == [] for (*_, cells), step in zip(rows, steps, strict=True))
    begun = [line[:-2] for cell in words for line in cell if line.endswith(" {")]
    assert sorted(begun) == sorted(str(operation) for operation in failure.scenario.operations)
    results = [line[4:] for cell in words for line in cell if line.startswith("} → ")]
    assert sorted(results) == sorted(repr(operation.result) for operation in failure.history.operations)
    assert [aside for *_, aside, _ in rows] == ["aside" in step for step in steps]
    top = window.run(
        "const d = document.querySelector('.drawing'); d.style.maxHeight = '200px'; d.scrollTop = 1e9;"
        " return d.getBoundingClientRect().top"
    )
    heads = window.run("return [...document.querySelectorAll('#steps thead th')].map(h => h.getBoundingClientRect())")
    assert {round(head["top"] - top) for head in heads} == {0}
    assert abs(heads[1]["width"] - heads[2]["width"]) <= 1
    paper = {False: (255, 255, 255), True: (20, 23, 27)}[dark]
    x, y = heads[2]["right"] - 5, heads[2]["top"] + 5
    assert colour(window, x, y, tmp_path / "shot.png") == paper


def test_help_and_print(load, tmp_path: Path) -> None:
    window = load(judge_parts(map_history(40, 2), "map"))
    window.keys("?")
    assert window.run("return document.getElementById('keyboard').open")
    window.keys("\ue00c")
    assert not window.run("return document.getElementById('keyboard').open")
    window.pdf(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def test_empty(load) -> None:
    window = load(judge_parts(History("empty", []), "map"))
    window.keys("ejk0+-tf\ue014\ue015\ue010")
    assert window.run("return latchfree.selected") == -1


def test_the_screen_is_not_blank(load, tmp_path: Path) -> None:
    window = load(judge_parts(map_history(500, 1), "map"))
    picture = window.run("return latchfree.stage.canvas.toDataURL()")
    assert len(base64.b64decode(picture.split(",")[1])) > 10_000
