"""A headless Chromium, driven through chromedriver (W3C WebDriver) with the standard library alone."""

import base64
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """One window.

    Parameters
    ----------
    address : str
        Where the session of chromedriver answers.
    """

    def __init__(self, address: str) -> None:
        self._address = address

    def open(self, page: Path, query: str = "", *, dark: bool = False) -> None:
        """Load a page from the disk, with what follows its name in the address."""
        self.cdp("Emulation.setEmulatedMedia", media="", features=_scheme(dark))
        _post(f"{self._address}/url", {"url": page.resolve().as_uri() + query})

    def run(self, script: str, *arguments: object) -> Any:
        """Return what a script returns; it sees the page as `latchfree`, and two frames have been painted after it."""
        body = f"const f = (() => {{ {script} }}), done = arguments[arguments.length - 1];"
        body += "const r = f(); requestAnimationFrame(() => requestAnimationFrame(() => done(r ?? null)));"
        return _post(f"{self._address}/execute/async", {"script": body, "args": list(arguments)})

    def keys(self, text: str) -> None:
        """Press keys."""
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": actions})
        self.run("")

    def move(self, x: float, y: float, *, click: bool = False) -> None:
        """Move the pointer, and click if so wished."""
        steps: list[dict[str, object]] = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}]
        if click:
            steps += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._act({"type": "pointer", "id": "mouse", "actions": steps})
        self.run("")

    def wheel(self, x: float, y: float, by: int) -> None:
        """Turn the wheel."""
        scroll = {"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": by, "duration": 0}
        self._act({"type": "wheel", "id": "wheel", "actions": [scroll]})
        self.run("")

    def screenshot(self, file: Path) -> None:
        """Write what the window shows as a PNG."""
        file.write_bytes(base64.b64decode(_get(f"{self._address}/screenshot")))

    def pdf(self, file: Path) -> None:
        """Print the page."""
        file.write_bytes(base64.b64decode(_post(f"{self._address}/print", {"orientation": "landscape"})))

    def complaints(self) -> list[str]:
        """Return what the console said since it was last asked."""
        return [entry["message"] for entry in _post(f"{self._address}/se/log", {"type": "browser"})]

    def cdp(self, command: str, **parameters: object) -> Any:
        """Send a command of Chromium's own protocol."""
        return _post(f"{self._address}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def _act(self, source: dict[str, object]) -> None:
        _post(f"{self._address}/actions", {"actions": [source]})


@contextmanager
def browser(*, width: int = 1440, height: int = 900) -> Iterator[Browser]:
    """Start a browser, and end it."""
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        raise RuntimeError("these tests need Chromium and its driver; fix: apt-get install chromium chromium-driver")
    arguments = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--window-size={width},{height}",
        "--hide-scrollbars",
    ]
    process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        port = next(
            found[1] for line in process.stdout if (found := re.search(r"started successfully on port (\d+)", line))
        )
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": chromium, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        root = f"http://127.0.0.1:{port}/session"
        session = _post(root, {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        try:
            window = Browser(f"{root}/{session}")
            window.cdp(
                "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
            )
            yield window
        finally:
            _call(f"{root}/{session}", None, "DELETE")
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _scheme(dark: bool) -> list[dict[str, str]]:
    return [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]


def _get(address: str) -> Any:
    return _call(address, None, "GET")


def _post(address: str, body: object) -> Any:
    return _call(address, body, "POST")


def _call(address: str, body: object, method: str) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        with error:
            raise AssertionError(error.read().decode()) from None
