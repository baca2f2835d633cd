"""``latchfree play MODULE:CLASS``, and of the replay file of a class: play pages of plain Python."""

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latchfree_cli import exits
from latchfree_cli.exploring.classes import quiet, settings_in
from latchfree_cli.pages import SUFFIXES, write_page
from latchfree_cli.settings import Outcome, Settings


def play_class(
    settings: Settings,
    target: str,
    *,
    scenario: str | None,
    model: str | None,
    switches: str | None,
    changes: int | None,
    cancels: int | None,
) -> Outcome:
    """Write the play page of calls on an object, or of a coroutine function.

    That of a replay file opens at the end of its schedule.
    """
    from latchfree_explore import CannotControl, Diverged
    from latchfree_explore.python.core.digests import has_changed
    from latchfree_explore.python.replays import find_class, read
    from latchfree_teach import play_async, play_object

    opened: Sequence[int] = ()
    name, file = target.replace(":", "."), target
    document: dict[str, Any] | None = None
    try:
        if target.endswith(".json"):
            if any(option is not None for option in (scenario, model, switches, cancels)):
                raise exits.Stop(exits.USAGE, f"{target}: a replay has its scenario, model, switches and cancellations")
            document = read(Path(target))
            name = Path(target).stem
            target, scenario, model = document["target"], document["scenario"] or None, document["model"]
            switches, cancels = document["switches"], document["cancels"]
            opened = [thread for thread, count in document["choices"] for _ in range(count)]
        folder = Path.cwd()
        with quiet():
            make = find_class(target)
        settings = settings_in(settings, folder)
        if document is not None and has_changed(document, make):
            settings.note(f"the source of {target} has changed since: the page may open at another state")
        main = scenario is None and inspect.iscoroutinefunction(make)
        if scenario is None and not main:
            raise exits.Stop(
                exits.USAGE, f'{target}: give the operations to play, such as --scenario "put(0, 1) | get(0)"'
            )
        path = settings.out if settings.out.suffix.lower() in SUFFIXES else settings.out / f"play-{name}.html"
        options: Any = {
            "cancels": cancels or 0, "switches": switches or "free", "changes": changes, "title": target,
            "opened": opened,
        }  # fmt: skip
        with settings.progress(f"play {target}: searching its states"), quiet():
            made = (
                play_object(make, scenario, model=model or "map", **options)
                if scenario is not None
                else play_async(make, **options)
            )
    except OSError as error:
        raise exits.Stop(exits.USAGE, f"{error.filename or target}: {error.strerror}") from None
    except ValueError as error:
        named = str(error) if document is None else f"{file}: {error}"
        raise exits.Stop(exits.USAGE, named) from None
    except (CannotControl, Diverged) as error:
        raise exits.Stop(exits.TOOL, str(error)) from None
    return wrote(settings, target, path, made.text, states=made.states, bound=made.bound, par=made.par)


def wrote(
    settings: Settings,
    target: str,
    path: Path,
    text: str,
    *,
    states: int,
    bound: str,
    par: int | None,
    model: bool = False,
) -> Outcome:
    """Write a play page, and say what is on it."""
    from latchfree_teach.play.par import changes

    size = write_page(path, text)
    if par is None:
        said = "nothing on it is violated" if model else "no schedule on it fails"
    else:
        said = f"par is {changes(par)} of {'processes' if model else 'threads'}"
    what = "states of the model" if model else "states"
    part = f", those {bound}" if bound else ""
    settings.say(f"play {target}: {states:,} {what}{part}; {said}")
    settings.note(f"wrote {path} ({size / 1000:.0f} kB): open it in a browser")
    return Outcome("ok", {"page": str(path), "bytes": size, "states": states, "bound": bound, "par": par})
