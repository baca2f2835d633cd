"""Judge a history while it grows.

>>> from latchfree_lincheck.watching import Monitor
>>> monitor = Monitor("register")
>>> with monitor.call(0, "write", 1) as call:
...     call.result = None
>>> with monitor.call(1, "read") as call:
...     call.result = None
>>> monitor.verdict
'violation'
"""

from latchfree_lincheck.watching.events import Event, InvalidEvent
from latchfree_lincheck.watching.journal import Journal
from latchfree_lincheck.watching.monitor import Monitor

__all__ = ["Event", "InvalidEvent", "Journal", "Monitor"]
