"""Play pages of plain Python: every schedule is a way on the page, and comes to what the page says."""

import asyncio
import json
import random
import shutil
import subprocess
import threading

import pytest

pytest.importorskip("greenlet")

from random_programs import START, Outcomes, explored, module_of, random_program

from latchfree_explore import explore_async, explore_object, outside_event
from latchfree_explore.python.aio.program import AsyncProgram
from latchfree_explore.python.calling import calls_of
from latchfree_explore.python.program import Machine, Threads
from latchfree_explore.python.search.strategies import Fixed, Tree
from latchfree_explore.scenario import Scenario
from latchfree_model import get_model
from latchfree_teach import play_async, play_object, play_threads
from latchfree_teach.play.page import static
from latchfree_teach.play.plain import growing, walking

PROGRAM = """
const { data, plays } = JSON.parse(require("fs").readFileSync(0, "utf8")), G = Game(data);
const ends = plays.map((p) => { const w = G.walk(p); return [w.s, G.bad(w.s), G.verdict(w.s), w.alive.size]; });
console.log(JSON.stringify({ ends, best: G.best(0, -1) }));
"""


class Counter:
    def __init__(self):
        self.value = 0

    def add(self, n):
        before = self.value
        self.value = before + n
        return before

    def read(self):
        return self.value


class Locked(Counter):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def add(self, n):
        with self.lock:
            return super().add(n)


class Slow(Counter):
    def add(self, n):
        before = self.value
        worker = threading.Thread(target=self.store, args=(before + n,))
        worker.start()
        worker.join()
        return before

    def store(self, value):
        self.value = value


def ways(data):
    """Return how many ways lead to each end of a page."""
    many, order = {0: 1}, [0]
    before = [0] * len(data["states"])
    for state in data["states"]:
        for move in state[3]:
            before[move[1]] += 1
    for state in order:
        for move in data["states"][state][3]:
            many[move[1]] = many.get(move[1], 0) + many[state]
            before[move[1]] -= 1
            if before[move[1]] == 0:
                order.append(move[1])
    return {state: count for state, count in many.items() if not data["states"][state][3]}


def random_play(data, rng):
    moves, state = [], 0
    while there := data["states"][state][3]:
        move = rng.choice(there)
        moves.append(move[0])
        state = move[1]
    return moves, state


@pytest.mark.parametrize("switches", ["free", "gil"])
def test_a_page_has_as_many_ways_as_there_are_schedules(switches, rng):
    compared = 0
    while compared < 5:
        module = random_program(rng)
        program = Outcomes(module)
        machine = Machine(program, polls=switches == "gil")
        seen, schedules, _, whole = explored(program, machine, Tree(), 400)
        if not whole or any("Error" in outcome or "Empty" in outcome for outcome in seen):
            continue  # a page ends where a thread raises
        threads = [getattr(module, f"t{k}") for k in range(module.threads)]
        made = play_threads(*threads, setup=module.S, switches=switches)
        assert made.bound == ""
        assert sum(ways(made.data).values()) == schedules, module.source
        compared += 1


SCENARIOS = {
    Counter: "init: add(1) | add(1); read() | add(2) | after: read()",
    Locked: "add(1); read() | add(2)",
    Slow: "add(1) | read()",
}


@pytest.mark.parametrize("switches", ["free", "gil"])
@pytest.mark.parametrize("kind", SCENARIOS)
def test_a_way_on_the_page_is_a_schedule_that_is_judged_alike(kind, switches, rng):
    made = play_object(kind, SCENARIOS[kind], model="counter", switches=switches)
    program = calls_of(kind, Scenario.parse(SCENARIOS[kind]), get_model("counter"))
    machine = Machine(program, polls=switches == "gil")
    verdicts = set()
    with machine.ready():
        machine.execute(Fixed([]))
        machine.constants.refuted()
        machine.constants.written.add("value")
        for _ in range(60):
            moves, state = random_play(made.data, rng)
            run, wrong = machine.execute(Fixed(moves))
            status = made.data["states"][state][5]
            verdicts.add(status)
            if status == "done":
                assert [step.thread for step in run.steps] == moves
                assert wrong is None
                results = [call.result for call in sorted(program.calls, key=lambda each: each.process)]
                shown = made.data["states"][state][4]
                first = made.data["before"]
                assert [shown[str(first + k)] for k in range(len(results))] == [repr(each) for each in results]
            else:
                assert wrong is not None
                assert status == wrong.kind == "not linearizable"
    assert "done" in verdicts
    explored = explore_object(kind, SCENARIOS[kind], model="counter", switches=switches, raises=False)
    assert (made.par is None) == (explored.wrong is None)


def test_states_that_are_told_apart_too_little_are_noticed(monkeypatch):
    monkeypatch.setattr(walking, "_canonical", lambda run: tuple(sorted(step.thread for step in run.steps)))
    source = START + "def t0(s):\n    s.x = s.x + 1\ndef t1(s):\n    s.x = s.x + 1\n    s.results[1].append(s.x)\n"
    module = module_of(source, 2)
    results = set()
    made = play_threads(module.t0, module.t1, setup=module.S, check=lambda s: results.add((s.x, *s.results[1])))
    everything = set(results)
    results.clear()
    monkeypatch.undo()
    right = play_threads(module.t0, module.t1, setup=module.S, check=lambda s: results.add((s.x, *s.results[1])))
    assert made.states < right.states
    assert everything < results


def test_the_fewest_changes_are_those_of_a_shortest_failing_schedule():
    made = play_object(Counter, "add(1) | add(1)", model="counter")
    assert (made.par, made.bound) == (2, "")
    assert play_object(Counter, "add(1) | add(1)", model="counter", switches="gil").par is None
    assert play_object(Counter, "add(1) | add(1)", model="counter", changes=1).par is None
    near = play_object(Counter, "add(1); add(1) | add(1)", model="counter", changes=2)
    assert (near.par, near.bound) == (2, "up to 2 changes of threads")
    assert near.states < play_object(Counter, "add(1); add(1) | add(1)", model="counter").states
    assert any(state[6] for state in near.data["states"])


def test_a_page_of_many_states_has_those_near_the_first_failure(monkeypatch):
    def made(most, scenario="add(1); add(1); add(1) | add(1); read()", **options):
        monkeypatch.setattr(growing, "MOST_STATES", most)
        return play_object(Counter, scenario, model="counter", **options)

    assert made(2_500).bound == ""
    assert (made(89).bound, made(89).par) == ("up to 3 changes of threads", 2)
    near = made(50)
    assert (near.bound, near.par) == ("near one failing schedule", 2)
    assert made(5).bound == "near one failing schedule"
    calm = made(25, "read(); read(); read() | read(); read(); read() | read()")
    assert (calm.bound, calm.par) == ("up to 1 change of threads", None)
    with pytest.raises(ValueError, match="more than 5 states; fix: fewer changes"):
        made(5, changes=3)


def test_the_page_says_who_waits_for_what_and_what_is_shared():
    def first(locks):
        with locks[0], locks[1]:
            pass

    def second(locks):
        with locks[1], locks[0]:
            pass

    made = play_threads(first, second, setup=lambda: [threading.Lock(), threading.Lock()])
    assert made.par == 1
    ends = {state[5] for state in made.data["states"]}
    assert any(end.startswith("deadlock: thread 0 waits for list[1], held by thread 1") for end in ends)
    waits = {thread[4] for state in made.data["states"] for thread in state[2] if thread}
    assert "list[1], held by thread 1" in waits
    boxes = {(box[3], box[4]) for box in made.data["boxes"]}
    assert {("list[0]", "free"), ("list[0]", "held by thread 0")} <= boxes


def test_a_thread_that_a_call_starts_has_a_column():
    made = play_object(Slow, "add(1) | read()", model="counter")
    assert made.data["names"] == ["thread 0", "thread 1", "thread 2"]
    assert any("start thread 2" in text for text in made.data["texts"])


async def uses_a_pool():
    permits = asyncio.Semaphore(1)

    async def use():
        await permits.acquire()
        await outside_event("the connection")
        permits.release()

    users = [asyncio.create_task(use()) for _ in range(2)]
    await asyncio.gather(*users, return_exceptions=True)


def test_on_a_page_of_asyncio_the_reader_is_the_outside():
    assert play_async(uses_a_pool).par is None
    made = play_async(uses_a_pool, cancels=1)
    explored = explore_async(uses_a_pool, cancels=1, raises=False)
    ends = {state[5] for state in made.data["states"]}
    assert explored.wrong.kind == "deadlock"
    assert any(end.startswith("deadlock: main waits for what nobody sends") for end in ends)
    assert made.data["names"][:2] == ["main", "outside 1"]
    assert {"cancel task 1 (use)", "the connection lands"} <= set(made.data["texts"])
    machine, tree, schedules = Machine(AsyncProgram(uses_a_pool, cancels=1), polls=False), Tree(), 0
    with machine.ready():
        while True:
            run, _ = machine.execute(tree)
            schedules += 1
            if machine.constants.refuted():
                tree.restart()
                schedules = 0
            elif not tree.advance(run):
                break
    assert sum(ways(made.data).values()) == schedules


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize("kind", [Counter, Locked])
def test_the_game_is_that_of_the_explorer(kind, rng):
    made = play_object(kind, "add(1); read() | add(2)", model="counter")
    plays = [random_play(made.data, rng) for _ in range(200)]
    given = json.dumps({"data": made.data, "plays": [moves for moves, _ in plays]})
    node = subprocess.run(["node", "-e", static("game.js") + PROGRAM], input=given, capture_output=True, text=True)
    assert node.returncode == 0, node.stderr
    told = json.loads(node.stdout)
    for (_, state), (there, bad, verdict, alive) in zip(plays, told["ends"], strict=True):
        assert there == state
        assert bad == (made.data["states"][state][5] == "not linearizable") == (alive == 0)
        assert ("survived" in verdict) == (not bad)
    assert (told["best"] or {}).get("switches") == made.par


class Starting(Counter):
    def __init__(self):
        super().__init__()
        threading.Thread(target=self.read).start()


def test_what_makes_no_page_says_why():
    with pytest.raises(ValueError, match="starts threads when it is made; fix: play_threads"):
        play_object(Starting, "read()", model="counter")
    assert play_threads(Counter.read, setup=Starting).data["names"] == ["setup", "thread 1", "thread 2"]
    with pytest.raises(ValueError, match="at least one function"):
        play_threads()
    with pytest.raises(TypeError, match="a thread must be a function"):
        play_threads(3)
    with pytest.raises(ValueError, match="switches are 'free' or 'gil'"):
        play_object(Counter, "read()", model="counter", switches="both")
    with pytest.raises(ValueError, match="changes must be at least 0"):
        play_object(Counter, "read()", model="counter", changes=-1)
    with pytest.raises(ValueError, match="has no operation"):
        play_object(Counter, "push(1)", model="counter")
    with pytest.raises(ValueError, match="10 threads; a page has 9"):
        play_threads(*[lambda: None] * 10)


def test_ways_are_counted():
    data = {"states": [[0, 0, 0, [[0, 1], [1, 2]]], [0, 0, 0, [[1, 3]]], [0, 0, 0, [[0, 3]]], [0, 0, 0, []]]}
    assert ways(data) == {3: 2}
    assert random_play(data, random.Random(1))[1] == 3
    assert Threads([]).roots() == []
