"""The served game: states are found on the way, it is the engine's game, and nobody but this machine is answered."""

import json
import socket
import struct
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from latchfree_explore import Scenario
from latchfree_explore.examples.counter import LOST_UPDATE
from latchfree_explore.examples.treiber import ABA
from latchfree_explore.machine.machine import Machine
from latchfree_teach.play.document import document
from latchfree_teach.play.growing import around, whole
from latchfree_teach.play.serving import PlayServer
from latchfree_teach.play.walking import MOST_STEPS, Walker

SCENARIO = "init: push(1); push(2) | pop | pop; pop; push(3) | after: pop; pop"


def data_of(text: str) -> dict:
    return json.loads(text.partition('id="data">')[2].partition("</script>")[0])


def walker(target=ABA, scenario=SCENARIO) -> Walker:
    return Walker(Machine(target, Scenario.parse(scenario), steps=MOST_STEPS))


@pytest.fixture(scope="module")
def server() -> Iterator[PlayServer]:
    made = PlayServer(ABA, SCENARIO, near=40)
    thread = threading.Thread(target=made.run)
    thread.start()
    yield made
    made.stop()
    thread.join()


def fetch(server: PlayServer, path: str = "", host: str = "", method: str = "GET") -> str:
    headers = {"Host": host} if host else {}
    request = urllib.request.Request(server.address + path, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def test_a_whole_game_is_played_page_by_page(server):
    """Follow the links from page to page along a failing schedule, and see the verdict at its end."""
    graph = whole(walker())
    from latchfree_teach.play.par import shortest

    switches, way = shortest(graph.states[0])
    assert switches == 5
    pages = 0
    moves: list[int] = []
    state, data = 0, data_of(fetch(server))
    for thread in way:
        found = next((move[1] for move in data["states"][state][3] if move[0] == thread), None)
        if found is None:
            assert thread in data["states"][state][6], "where the page ends for a thread, it says so"
            pages += 1
            data = data_of(fetch(server, "?moves=" + "".join(map(str, [*moves, thread]))))
            assert data["open"] == [*moves, thread]
            state = 0
            for each in moves:
                state = next(move[1] for move in data["states"][state][3] if move[0] == each)
            found = next(move[1] for move in data["states"][state][3] if move[0] == thread)
        moves.append(thread)
        state = found
    assert data["states"][state][5] == "not linearizable"
    assert pages >= 1, "the game was larger than a page"


def test_states_near_some_moves_are_those_of_the_whole_graph():
    everything = {each.key: sorted(each.moves) for each in whole(walker(LOST_UPDATE, "increment | increment")).states}
    near = around(walker(LOST_UPDATE, "increment | increment"), [0, 1], most=1000).states
    assert {each.key for each in near} <= set(everything)
    assert near[-1].key in everything
    assert document(around(walker(), [0], most=30), title="t")["states"]


@pytest.mark.parametrize(
    ("path", "host", "method", "code"),
    [
        ("", "evil.example:80", "GET", 403),
        ("", "evil.example", "GET", 403),
        ("etc/passwd", "", "GET", 404),
        ("?moves=0a", "", "GET", 400),
        ("?moves=" + "0" * 2000, "", "GET", 400),
        ("", "", "POST", 501),
    ],
)
def test_anything_else_is_refused(server, path, host, method, code):
    with pytest.raises(urllib.error.HTTPError) as refused:
        fetch(server, path, host, method)
    with refused.value:
        assert refused.value.code == code


def test_readers_at_the_same_time_get_their_pages(server):
    """One machine finds and draws the states of all of them."""
    paths = ["", "?moves=0", "?moves=01", "?moves=010", "?moves=1", "?moves=11"] * 3
    expected = {path: fetch(server, path) for path in paths}
    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(lambda path: fetch(server, path), paths))
    assert [data_of(text)["open"] for text in told] == [data_of(expected[path])["open"] for path in paths]
    assert [len(data_of(text)["states"]) for text in told] == [len(data_of(expected[path])["states"]) for path in paths]


def test_a_browser_that_goes_is_nothing_to_speak_of(server, capfd):
    where = urlsplit(server.address)
    for _ in range(3):
        with socket.create_connection((where.hostname, where.port)) as gone:
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            gone.sendall(b"GET / HTTP/1.1\r\n")
    fetch(server)
    assert capfd.readouterr() == ("", "")


def test_it_listens_on_the_loopback_interface_only(server):
    assert server._server.server_address[0] == "127.0.0.1"


def test_moves_that_cannot_be_made_end_where_they_can(server):
    data = data_of(fetch(server, "?moves=0999"))
    assert data["states"]
    assert data["serve"] is True


def test_a_connection_that_says_nothing_holds_nobody_up(server):
    """Browsers open such connections; the server closes them after a minute."""
    with socket.create_connection(("127.0.0.1", urlsplit(server.address).port or 0)) as idle:
        assert "<!DOCTYPE html>" in fetch(server)
        idle.setblocking(False)
        with pytest.raises(BlockingIOError):
            idle.recv(1)
