"""The play page: its game is the engine's, its boxes stay in their places, and made again it has the same bytes."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from show_browser import Browser, browser

from latchfree_evidence.targets.ctrie import CTRIE
from latchfree_evidence.targets.ring import RING
from latchfree_explore import Scenario
from latchfree_explore.examples.counter import LOST_UPDATE
from latchfree_explore.examples.mutex import CARELESS
from latchfree_explore.examples.queue import QUEUE
from latchfree_explore.examples.treiber import ABA
from latchfree_explore.machine.machine import Machine
from latchfree_teach import build_gallery, play_page
from latchfree_teach.play.document import document
from latchfree_teach.play.growing import whole
from latchfree_teach.play.page import static
from latchfree_teach.play.walking import MOST_STEPS, Walker

ABA_SCENARIO = "init: push(1); push(2) | pop | pop; pop; push(3) | after: pop; pop"
PLAYS = [
    (LOST_UPDATE, "increment | increment"),
    (ABA, ABA_SCENARIO),
    (CARELESS, "increment | increment"),
    (QUEUE, "enqueue(1) | enqueue(2); dequeue"),
    (RING, "enqueue(1) | dequeue | enqueue(2)"),
    (CTRIE, "init: put(0, 1); put(1, 1) | put(0, 2) | remove(1) | keys: pairs"),
]

PROGRAM = """
const { data, plays } = JSON.parse(require("fs").readFileSync(0, "utf8")), G = Game(data);
const answers = plays.map((moves) => {
  const w = G.walk(moves);
  return [w.s, w.made.length, w.switches, G.bad(w.s), w.alive.size, G.verdict(w.s), G.walk(w.made.slice(0, -1)).s];
});
console.log(JSON.stringify({ answers, best: G.best(0, -1) }));
"""


MADE: dict[tuple[int, str], dict] = {}


def data_of(target, scenario: str) -> dict:
    """The data of a page, made once."""
    if (id(target), scenario) not in MADE:
        MADE[id(target), scenario] = data_made(target, scenario)
    return MADE[id(target), scenario]


def data_made(target, scenario: str) -> dict:
    return document(whole(Walker(Machine(target, Scenario.parse(scenario), steps=MOST_STEPS))), title=target.name)


def played(data: dict, rng: random.Random) -> tuple[list[int], list[int]]:
    """A random play: moves, and the states passed."""
    moves, states = [], [0]
    while (there := data["states"][states[-1]][3]) and rng.random() < 0.97:
        move = rng.choice(there)
        moves.append(move[0])
        states.append(move[1])
    return moves, states


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize(("target", "scenario"), PLAYS, ids=lambda each: getattr(each, "name", None))
def test_a_thousand_random_plays_in_node(target, scenario, rng):
    play_in_node(data_of(target, scenario), rng)


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_a_page_may_be_as_large_as_a_search():
    last = 200_000
    program = f"""
const last = {last};
const move = (k) => k < last ? [[0, k + 1, 1, 0, 0, 0, [], 0]] : [];
const state = (_, k) => [[], [], [], move(k), {{}}, k < last ? "" : "deadlock", []];
const states = Array.from({{ length: last + 1 }}, state);
const {{ switches, way }} = Game({{ states, start: [], before: 0 }}).best(0, -1);
console.log(JSON.stringify([switches, way.length, way.every((move) => move === 0)]));
"""
    program = static("game.js") + program
    node = subprocess.run(["node", "-e", program], capture_output=True, text=True, timeout=300)
    assert node.returncode == 0, node.stderr
    assert json.loads(node.stdout) == [0, last, True]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_a_thousand_random_plays_of_each_page_of_the_gallery(tmp_path, rng):
    made = build_gallery(tmp_path)
    assert len(made) > 20
    for each in made:
        text = (tmp_path / f"{each['id']}-play.html").read_text()
        play_in_node(json.loads(text.partition('id="data">')[2].partition("</script>")[0]), rng)


def play_in_node(data: dict, rng: random.Random) -> None:
    """Play a page a thousand times by its own script; its verdicts must be those of the states."""
    plays = [played(data, rng) for _ in range(1000)]
    given = json.dumps({"data": data, "plays": [moves for moves, _ in plays]})
    node = subprocess.run(
        ["node", "-e", static("game.js") + PROGRAM], input=given, capture_output=True, text=True, timeout=300
    )
    assert node.returncode == 0, node.stderr
    told = json.loads(node.stdout)
    for (moves, states), (s, made, switches, bad, alive, verdict, before) in zip(plays, told["answers"], strict=True):
        status = data["states"][states[-1]][5]
        assert (s, made) == (states[-1], len(moves)), "a deep link leads to the state"
        assert switches == sum(a != b for a, b in pairwise(moves))
        assert bad == (status not in ("", "done"))
        assert (alive == 0) == (status == "not linearizable"), "no explanation is left just there"
        assert bool(verdict) == (status != "" or not data["states"][states[-1]][3]), "or the page ends there"
        if moves:
            assert before == states[-2], "undo leads to the state before"
    assert (told["best"] or {}).get("switches") == data["par"]


@pytest.mark.parametrize(("target", "scenario"), PLAYS, ids=lambda each: getattr(each, "name", None))
def test_boxes_never_move_and_never_meet(target, scenario):
    data = data_of(target, scenario)
    place: dict[str, tuple[int, int]] = {}
    for state in data["states"]:
        corners = [tuple(data["boxes"][k][1:3]) for k in state[0]]
        assert corners
        assert len(set(corners)) == len(corners)
        for k in state[0]:
            assert place.setdefault(data["boxes"][k][0], tuple(data["boxes"][k][1:3])) == tuple(data["boxes"][k][1:3])
        names = {data["boxes"][k][0] for k in state[0]}
        assert all({data["arrows"][k][0], data["arrows"][k][1]} <= names for k in state[1])


def test_the_trie_shows_what_a_compare_and_swap_is_about_to_install():
    data = data_of(*PLAYS[-1])
    styles = {style for *_, style in data["arrows"]}
    assert {"swing t0", "swing t1"} <= styles
    texts = {box[4] for box in data["boxes"]}
    assert "0:2  1:1" in texts, "thread 0's new C-node"
    assert "tomb of 0:1" in texts, "thread 1's tomb"
    ghosts = {box[0] for box in data["boxes"] if "ghost" in box[5]}
    assert ghosts


IN_WORDS = """
from latchfree_explore import Operation, Target
from latchfree_explore.examples.counter import CounterModel, increment_by_cas, read
from latchfree_teach import play_page

class Model(CounterModel):
    def init(self):
        return ""

    def apply(self, state, call):
        return ("done", state + "+") if call.f == "increment" else (str(len(state)), state)

operations = {"increment": Operation(increment_by_cas, lambda _: "done"), "read": Operation(read, str)}
target = Target("words", Model(), operations)
print(play_page(target, "increment; increment | increment | increment; read").text)
"""


IN_ITS_PROCESS = f"""
import contextlib, io, json
from latchfree_teach import play_page
from latchfree_explore.examples.treiber import ABA
words = io.StringIO()
with contextlib.redirect_stdout(words):
    exec({IN_WORDS!r})
print(json.dumps({{"treiber": play_page(ABA, {ABA_SCENARIO!r}).text, "results in words": words.getvalue()}}))
"""


@pytest.fixture(scope="module")
def in_every_process() -> list[dict[str, str]]:
    """The text of two pages, as processes that hash otherwise make them."""
    path = os.pathsep.join(sys.path)
    made = []
    for seed in ("1", "2", "3", "4"):
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", IN_ITS_PROCESS], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        made.append(json.loads(done.stdout))
    return made


@pytest.mark.parametrize("page", ["treiber", "results in words"])
def test_the_same_bytes_in_every_process(page, in_every_process):
    texts = {made[page] for made in in_every_process}
    assert len(texts) == 1
    assert "<!DOCTYPE html>" in texts.pop()


def test_nothing_in_a_name_ends_the_data():
    text = play_page(LOST_UPDATE, "increment | increment", title="</script><b>", story="</script><script>").text
    assert text.count("</script>") == 2
    assert "&lt;/script&gt;&lt;b&gt;" in text


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser(width=1280, height=900) as opened:
        yield opened


@pytest.mark.browser
@pytest.mark.parametrize(("target", "scenario"), [PLAYS[0], PLAYS[1], PLAYS[-1]])
def test_in_chromium(window, tmp_path: Path, target, scenario):
    file = tmp_path / "play.html"
    made = play_page(target, scenario)
    file.write_text(made.text)
    window.open(file)
    window.keys("s" if made.par is not None else "112")
    verdict = window.run("return document.getElementById('verdict').textContent;")
    assert verdict.startswith("Not linearizable: you broke it") == (made.par is not None)
    link = window.run("return location.hash;")
    assert re.fullmatch(r"#\d+", link)
    window.keys("u")
    assert window.run("return location.hash;") == link[:-1]
    window.keys("r")
    assert window.run("return document.getElementById('undo').disabled;")
    window.cdp("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=True)
    assert window.run("return document.documentElement.scrollWidth;") <= 360, "no sideways scrolling on a phone"
    window.cdp("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    assert window.complaints() == []
    assert window.run("return performance.getEntriesByType('resource').length;") == 0, "no request but the page itself"
