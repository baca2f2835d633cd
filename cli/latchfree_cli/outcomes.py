"""Run the function of a command to its end, and print how it ended."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Final

from latchfree_cli.process import ending
from latchfree_cli.settings import Outcome, Settings

JSON_VERSION: Final = 1


def finish(settings: Settings, run: Callable[[], Outcome]) -> int:
    """Run a command, print how it ended and return the exit code."""
    try:
        outcome = run()
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt):
            settings.cancelled.set()
        stop = ending(error, verbose=settings.verbose)
        settings.warn(str(stop))
        if settings.json:
            _print_json({"verdict": None, "error": str(stop)}, None)
        return stop.code
    if settings.json:
        _print_json({"verdict": outcome.verdict, **outcome.payload}, outcome.reproduce)
    elif outcome.reproduce:
        settings.say(outcome.reproduce)
    return outcome.exit_code


def _print_json(payload: Mapping[str, object], reproduce: str | None) -> None:
    document = {"version": JSON_VERSION, **payload}
    if reproduce:
        document["reproduce"] = reproduce
    sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
    sys.stdout.flush()
