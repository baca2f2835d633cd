"""Play pages of models of TLA+: the game is TLC's, and what is violated is what TLC says."""

import functools
import json
import random
import shutil
import subprocess

import pytest

from latchfree_model.graph import explore
from latchfree_model.tlc import run_model
from latchfree_teach.play.models import find_model, model_page
from latchfree_teach.play.page import static

PROGRAM = """
const { data, plays } = JSON.parse(require("fs").readFileSync(0, "utf8")), G = Game(data);
const ends = plays.map((p) => { const w = G.walk(p); return [w.s, G.bad(w.s), G.verdict(w.s)]; });
console.log(JSON.stringify({ ends, best: G.best(0, -1) }));
"""


page = functools.cache(model_page)  # TLC takes a second or two for each


def data_of(text: str) -> dict:
    return json.loads(text.partition('id="data">')[2].partition("</script>")[0])


def random_play(data: dict, rng: random.Random) -> tuple[list[int], int]:
    moves, state = [], 0
    while (there := data["states"][state][3]) and rng.random() < 0.98:
        move = rng.choice(there)
        moves.append(move[0])
        state = move[1]
    return moves, state


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize(("name", "par"), [("counter_lost", 2), ("counter", None)])
def test_the_game_is_that_of_the_model(name, par, rng):
    made = page(name)
    data = data_of(made.text)
    assert (made.par, made.states) == (par, len(data["states"]))
    plays = [random_play(data, rng) for _ in range(1000)]
    given = json.dumps({"data": data, "plays": [moves for moves, _ in plays]})
    node = subprocess.run(["node", "-e", static("game.js") + PROGRAM], input=given, capture_output=True, text=True)
    assert node.returncode == 0, node.stderr
    told = json.loads(node.stdout)
    for (_, state), (there, bad, verdict) in zip(plays, told["ends"], strict=True):
        status = data["states"][state][5]
        assert there == state
        assert bad == (status == "Counted is violated")
        assert ("nothing is violated" in verdict) == (status == "done")
    assert (told["best"] or {}).get("switches") == par


def test_a_right_model_has_every_state_and_every_step():
    model = find_model("counter")
    graph = explore(model).graph
    data = data_of(model_page(model).text)
    assert len(data["states"]) == len(graph)
    steps = sum(step.source != step.target for step in graph.steps())
    assert sum(len(state[3]) for state in data["states"]) == steps
    assert data["names"] == ["u", "v"]


def test_the_shortest_way_to_a_violation_is_as_long_as_the_counterexample_of_tlc():
    model = find_model("counter_lost")
    data = data_of(page("counter_lost").text)
    trace = run_model(model).trace
    assert trace is not None
    layer, far = {0}, 1
    while not any(data["states"][state][5] == "Counted is violated" for state in layer):
        layer = {move[1] for state in layer for move in data["states"][state][3]}
        far += 1
    assert far == len(trace)


@pytest.mark.parametrize(
    ("name", "why"),
    [("no_such_model", "there is no model"), ("writer_snapshotter", "34,426 states"), ("mutant_a1", "temporal")],
)
def test_what_makes_no_page_says_why(name, why):
    with pytest.raises(ValueError, match=why):
        model_page(name)
