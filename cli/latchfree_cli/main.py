"""The console script `latchfree`.

Without the extra `check` the script exists but typer does not, so `run` must be in place before anything is imported.
Usual logs have a lane of their own, and nothing else is loaded before that one has answered.
"""

import os
import sys

from latchfree_cli.histories.lane import quick_code

TYPE_CHECKING = False  # of `typing`, which takes 2 ms to load
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


def main() -> None:
    """Run the command line and end the process with its exit code.

    After a plain command the process ends at once: all was written, and taking Python and numpy down takes as long as
    judging ten histories. So does ``match``, whose matcher of many subscriptions would be taken apart one by one while
    the reader of its output waits for the end.
    """
    try:
        quick = quick_code(sys.argv[1:])
        if quick is not None:
            _print(*quick)
    except KeyboardInterrupt:
        _end(_interrupted, plain=True)
    from latchfree_cli.plain import plain_command

    plain = plain_command(sys.argv[1:])
    _end(_command if plain is None else plain, plain=plain is not None or sys.argv[1:2] == ["match"])


def _end(command: "Callable[[], object]", *, plain: bool) -> "NoReturn":
    """Run a command to its end, and the process with it."""
    from latchfree_cli import process

    process.KEPT.ends_at_once = plain
    code = process.run(command, verbose=process.is_verbose(sys.argv[1:]))
    if plain:
        os._exit(code)
    sys.exit(code)


def _print(code: int, text: bytes) -> "NoReturn":
    """Print text and end the process; what the system does not take is left to those who can say why."""
    done = 0
    try:
        while done < len(text):
            done += os.write(1, text[done:])
    except OSError:
        rest = text[done:].decode()
        _end(lambda: _finish(code, rest), plain=True)
    os._exit(code)


def _finish(code: int, rest: str) -> None:
    from latchfree_cli.process import Finished

    sys.stdout.write(rest)
    sys.stdout.flush()
    raise Finished(code)


def _interrupted() -> None:
    raise KeyboardInterrupt


def _command() -> None:
    from typer.main import get_command

    from latchfree_cli.app import application

    get_command(application(sys.argv[1:]))(prog_name="latchfree")


if __name__ == "__main__":
    main()
