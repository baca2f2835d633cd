"""Serve play pages on the loopback interface: states are found when the reader comes near them, so there is no bound.

Example: the page at ``/`` has the first states. Where it ends for thread 1 after the moves 0, 0, it links to
``/?moves=001``, and that page has the states along these moves and those that follow.

Invariant: only this machine is answered. The server listens on 127.0.0.1, refuses a request that names another host (a
name that somebody has pointed at 127.0.0.1), answers GET alone, and serves nothing but pages that it makes.
"""

from __future__ import annotations

import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from latchfree_explore.machine.machine import Machine
from latchfree_explore.scenario import Scenario
from latchfree_explore.target import Target
from latchfree_teach.play.document import document
from latchfree_teach.play.growing import around
from latchfree_teach.play.page import page
from latchfree_teach.play.walking import MOST_STEPS, Walker

NEAR: Final = 600
"""States of a page."""
MOST_MOVES: Final = 1_000
_HOST: Final = "127.0.0.1"
_OURS: Final = frozenset({_HOST, "localhost"})


class _Server(ThreadingHTTPServer):
    """A thread for each connection: a browser opens some that it does not use."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has gone."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class PlayServer:
    """Serves one scenario.

    Parameters
    ----------
    target : Target
    scenario : str or Scenario
    title, story : str
        Shown at the top.
    port : int
        0 for any that is free.
    near : int
        States of a page, about.

    Raises
    ------
    ValueError
        If the target cannot run the scenario, or its model cannot be followed.
    OSError
        If the port is taken.
    """

    def __init__(
        self,
        target: Target,
        scenario: str | Scenario,
        *,
        title: str = "",
        story: str = "",
        port: int = 0,
        near: int = NEAR,
    ) -> None:
        parsed = Scenario.parse(scenario) if isinstance(scenario, str) else scenario
        self._walker = Walker(Machine(target, parsed, steps=MOST_STEPS))
        self._title, self._story, self._near = title or target.name, story, near
        self._one = Lock()
        self._server = _Server((_HOST, port), self._handler())

    @property
    def address(self) -> str:
        """Where the first page is."""
        return f"http://{_HOST}:{self._server.server_port}/"

    def page(self, moves: list[int]) -> str:
        """Return the page opened after some moves."""
        with self._one:  # one machine: finding states and drawing them both run it
            graph = around(self._walker, moves, most=self._near)
            data: dict[str, Any] = document(graph, title=self._title, story=self._story)
        return page({**data, "serve": True, "open": moves})

    def run(self) -> None:
        """Answer requests until `stop`."""
        self._server.serve_forever()

    def stop(self) -> None:
        """End `run`, and close."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        serving = self

        class Handler(BaseHTTPRequestHandler):
            """Answers one request."""

            timeout = 60

            def do_GET(self) -> None:
                """Answer with a page."""
                host, _, port = (self.headers.get("Host") or "").rpartition(":")
                if host not in _OURS or not port.isdecimal():
                    return self.send_error(HTTPStatus.FORBIDDEN, "this server answers its own machine only")
                where = urlsplit(self.path)
                if where.path != "/":
                    return self.send_error(HTTPStatus.NOT_FOUND, "there is one page, /")
                text = parse_qs(where.query).get("moves", [""])[0]
                if len(text) > MOST_MOVES or not all(letter in "0123456789" for letter in text):
                    return self.send_error(HTTPStatus.BAD_REQUEST, "moves are digits, the numbers of threads")
                body = serving.page([int(letter) for letter in text]).encode()
                self.send_response(HTTPStatus.OK)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                self.wfile.write(body)
                return None

            def log_message(self, format: str, *arguments: Any) -> None:
                """Say nothing."""

        return Handler
