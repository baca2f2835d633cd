"""The desk: the folder of a student, a file for each lesson begun, and what has been done so far.

Example: ``Desk(Path("lessons")).file(find_lesson("1"))`` is ``lessons/01_lost_update.py``, a copy of the hole. What has
been done is in ``lessons/progress.json``.

Invariant: nothing that a student wrote is lost. A file that is there is never overwritten; `reset` keeps a copy first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from latchfree_support.publishing import publish_file
from latchfree_teach.course.lesson import Lesson, lessons

STATE: Final = "progress.json"
_VERSION: Final = 1


class Desk:
    """The folder of a student.

    Parameters
    ----------
    folder : Path
        Made if it is not there.

    Raises
    ------
    OSError
        If it cannot be made or read.
    ValueError
        If its state is none that this program wrote.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._state = self._read()

    def path(self, lesson: Lesson) -> Path:
        """Return where the file of a lesson is, or would be."""
        return self.folder / f"{lesson.name}{lesson.suffix}"

    def file(self, lesson: Lesson) -> Path:
        """Return the file of a lesson, a copy of the hole if the student has none yet."""
        path = self.path(lesson)
        with suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
            try:
                file.write(lesson.hole)
                file.flush()
            except OSError:
                path.unlink(missing_ok=True)  # half a hole is none
                raise
        return path

    def reset(self, lesson: Lesson) -> Path:
        """Put the hole back in place; return where the copy of what was there is."""
        path = self.file(lesson)
        number = 1
        while (kept := path.with_suffix(f"{lesson.suffix}.{number}")).exists():
            number += 1
        path.rename(kept)
        self.file(lesson)
        return kept

    @property
    def finished(self) -> list[str]:
        """The names of the lessons that have been passed, in order."""
        return [lesson.name for lesson in lessons() if lesson.name in self._state["finished"]]

    def finish(self, lesson: Lesson) -> None:
        """Note that a lesson has been passed."""
        with self._changed() as state:
            if lesson.name not in state["finished"]:
                state["finished"].append(lesson.name)

    def hint(self, lesson: Lesson) -> str:
        """Return the next hint of a lesson, the last one again when there is no further one."""
        with self._changed() as state:
            given: int = state["hints"].get(lesson.name, 0)
            state["hints"][lesson.name] = min(given + 1, len(lesson.hints))
        number = min(given, len(lesson.hints) - 1)
        return f"hint {number + 1} of {len(lesson.hints)}: {lesson.hints[number]}"

    @property
    def current(self) -> Lesson | None:
        """The first lesson that has not been passed, None if all have."""
        return next((lesson for lesson in lessons() if lesson.name not in self._state["finished"]), None)

    def _read(self) -> dict[str, Any]:
        path = self.folder / STATE
        fresh: dict[str, Any] = {"version": _VERSION, "finished": [], "hints": {}}
        if not path.exists():
            return fresh
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            state = None
        if not _is_state(state):
            raise ValueError(f"{path}: no state that latchfree learn wrote; move it away to begin anew")
        return {**fresh, **state}

    @contextmanager
    def _changed(self) -> Iterator[dict[str, Any]]:
        """Read the state, have it changed, and write it, one process at a time: a student may have two terminals."""
        with _alone(self.folder):
            self._state = self._read()
            yield self._state
            text = json.dumps(self._state, indent=2) + "\n"
            publish_file(self.folder / STATE, text.encode(), synchronised=False)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes from changing the state meanwhile, where the system has locks of files."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def _is_state(state: object) -> bool:
    if not isinstance(state, dict) or state.get("version") != _VERSION:
        return False
    finished, hints = state.get("finished"), state.get("hints")
    return (
        isinstance(finished, list)
        and all(isinstance(name, str) for name in finished)
        and isinstance(hints, dict)
        and all(type(number) is int and number >= 0 for number in hints.values())
    )
