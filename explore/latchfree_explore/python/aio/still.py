"""What an event loop has that takes no part in a schedule: settings, handlers of errors, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, NoReturn

from latchfree_explore.python.core.run import CONTROL

_Base: Any = asyncio.AbstractEventLoop  # what is not defined here is added below, which no type checker sees


class StillLoop(_Base):  # type: ignore[misc]
    """The settings of a loop.

    Attributes
    ----------
    errors : list of (str, BaseException or None)
        What callbacks raised.
    slow_callback_duration : float
        A setting that changes nothing here.
    """

    def __init__(self) -> None:
        self.errors: list[tuple[str, BaseException | None]] = []
        self.slow_callback_duration = 0.1
        self._debug = False
        self._over = False
        self._executor: Any = None
        self._handler: Callable[[Any, dict[str, Any]], object] | None = None
        self._factory: Any = None

    def set_task_factory(self, factory: Any) -> None:
        """Have tasks made by a function."""
        self._factory = factory

    def get_task_factory(self) -> Any:
        """Return the function that makes tasks."""
        return self._factory

    def set_default_executor(self, executor: Any) -> None:
        """Have a pool used where none is named."""
        self._executor = executor

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Hand on what a callback raised; without a handler the schedule is wrong."""
        if self._over:
            return
        if self._handler is None:
            self.default_exception_handler(context)
            return
        try:
            self._handler(self, context)
        except Exception as error:
            self.default_exception_handler({"message": "Unhandled error in exception handler", "exception": error})

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Take what a callback raised for wrong."""
        self.errors.append((str(context.get("message", "")), context.get("exception")))

    def set_exception_handler(self, handler: Callable[[Any, dict[str, Any]], object] | None) -> None:
        """Have a function called with what callbacks raise."""
        self._handler = handler

    def get_exception_handler(self) -> Callable[[Any, dict[str, Any]], object] | None:
        """Return the function that is called with what callbacks raise."""
        return self._handler

    def get_debug(self) -> bool:
        """Return what was set."""
        return self._debug

    def set_debug(self, enabled: bool) -> None:
        """Note a setting that changes nothing here."""
        self._debug = enabled

    def run_forever(self) -> None:
        """Refuse: the loop runs."""
        raise RuntimeError("This event loop is already running")

    def run_until_complete(self, future: Any) -> Any:
        """Refuse: the loop runs."""
        self.run_forever()

    def close(self) -> None:
        """Refuse: the loop runs."""
        raise RuntimeError("Cannot close a running event loop")

    def is_running(self) -> bool:
        """Return whether the schedule still runs."""
        return not self._over

    def is_closed(self) -> bool:
        """Return whether the schedule is over."""
        return self._over

    def _check_open(self) -> None:
        if self._over:
            raise RuntimeError("Event loop is closed")


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(self: StillLoop, *arguments: object, **options: object) -> NoReturn:
        words = (
            f"loop.{name}: what is explored runs without network, processes or signals; "
            "fix: stand in for them with outside_event()"
        )
        if CONTROL.run is not None:
            CONTROL.run.stop("out of control", words)
        raise NotImplementedError(words)

    return refuse


_BY_THE_SCHEDULE: Final = frozenset({
    "call_soon", "call_soon_threadsafe", "call_later", "call_at", "_timer_handle_cancelled", "time", "create_future",
    "create_task", "run_in_executor", "stop", "shutdown_asyncgens", "shutdown_default_executor",
})  # fmt: skip
"""What the loop itself does."""

for _name in dir(asyncio.AbstractEventLoop):
    if not _name.startswith("__") and _name not in _BY_THE_SCHEDULE and _name not in vars(StillLoop):
        setattr(StillLoop, _name, _refusing(_name))
