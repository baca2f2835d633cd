"""A fast lane: ``latchfree check FILE...`` on usual logs, from the command line to the printed verdicts.

Example: ``latchfree check etcd_*.log`` reads each log and gives its bytes to the compiled code of the checker, which
answers with a verdict and numbers. No NumPy, no parser and no console is loaded: Python and the library start in 20 ms.

Invariant: what is printed and written here is what the ordinary path prints and writes, but for the seconds. Before the
first effect everything is judged; whatever is not usual until then, an option, a byte, a search that takes long, an
error of the system, makes the answer None, and the ordinary path does all of it again. So little is imported here: no
`pathlib`, `typing` or `re`.
"""

from __future__ import annotations

import os
import stat
import sys
from time import perf_counter

from latchfree_cli.histories.lane_logs import (
    COLUMNS,
    HELD,
    LARGEST_RECORDS,
    LOGS,
    MODEL,
    MODELS,
    MONITORED,
    NAME,
    TOLD,
    Log,
    Told,
    bare,
    explained,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Final

_QUIET: Final = frozenset({"-q", "--quiet"})
_OUT: Final = frozenset({"-o", "--out"})
_MODEL: Final = "--model"
_PACKED: Final = (".gz", ".zst")
_ENCODINGS: Final = frozenset({"utf-8", "ascii", "iso8859-1", "latin-1"})
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
_UNQUOTED: Final = _PLAIN | frozenset("@%+=:,/")
SHORTEST: Final = 24
"""Bytes of a line, at least."""
CONFIGURATIONS: Final = 1 << 11
PATHS: Final = 1 << 16
"""Room of the searches, see `latchfree_lincheck.engine.logs.store`."""

ALONE: Final = 0.05
"""Seconds until other threads help."""

OK: Final = 0
VIOLATION: Final = 1

_SYMBOL: Final = "latchfree_lincheck_engine_border__judge_"


class NotUsual(Exception):
    """The ordinary path is to be taken."""


def quick_code(words: Sequence[str]) -> tuple[int, bytes] | None:
    """Judge the files of a command line; return the exit code and what is to be printed, None if it is not usual."""
    try:
        asked = _asked(words)
        return None if asked is None or not _is_free(sys.stdout) else judged(*asked)
    except Exception:  # whatever it is, the ordinary path has words for it
        return None


def _asked(words: Sequence[str]) -> tuple[list[str], str, bool, str] | None:
    """Return the files of a command line, the folder for files, whether to say less, and the model, "" for none.

    None if it is not usual.
    """
    if len(words) < 2 or words[0] != "check" or any(name.endswith("_COMPLETE") for name in os.environ):
        return None
    files: dict[str, None] = {}
    out, quiet, model = "out", False, ""
    rest = iter(words[1:])
    for word in rest:
        if word in _QUIET:
            quiet = True
        elif word in _OUT:
            out = _path(next(rest, ""))
        elif word == _MODEL:
            model = next(rest, "")
            if not any(model in log.asked for log in LOGS):
                raise NotUsual
        else:
            files[_path(word)] = None
    return [*files], out, quiet, model


def _is_free(stream: Any) -> bool:
    """Return whether bytes of ASCII can be written to standard output beside this stream."""
    real: Any = sys.__stdout__
    return real is not None and stream is real and stream.fileno() == 1 and stream.encoding.lower() in _ENCODINGS


def _path(word: str) -> str:
    """Return a path as `pathlib` writes it."""
    if not word.isascii() or not word.isprintable() or word.startswith(("-", "//")):
        raise NotUsual
    parts = [part for part in word.split("/") if part not in ("", ".")]
    if not parts or parts[-1].startswith(".") or parts[-1].endswith((".", ".parquet")) or ".." in parts[-1]:
        raise NotUsual
    return "/" * (word[0] == "/") + "/".join(parts)


def stem(file: str) -> str:
    """Return what the history of a file is called."""
    name = file.rpartition("/")[2]
    for ending in _PACKED:
        if name.endswith(ending):
            name = name[: -len(ending)]
            if "." not in name:
                return name
            break
    return name.rpartition(".")[0] or name


def read(file: str) -> bytes:
    """Return a regular file that does not change meanwhile."""
    found = os.stat(file)  # noqa: PTH116 -- pathlib is slow to load
    if not stat.S_ISREG(found.st_mode) or not 0 < found.st_size <= LARGEST_RECORDS:
        raise NotUsual
    number = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = os.read(number, found.st_size + 1)
    finally:
        os.close(number)
    if len(text) != found.st_size:
        raise NotUsual
    return text


def loaded() -> dict[str, Callable[..., int]]:
    """Return the compiled functions that judge logs, by the names of these."""
    from latchfree_support.library_keys import CHECKER, UNDERNEATH, fits, library_name, processor

    its = processor()
    if its is None or os.environ.get("LATCHFREE_COMPILED") == "jit":
        raise NotUsual
    home = _home("latchfree_lincheck")
    file = f"{home}/native/{library_name(its)}"
    below = _home("latchfree")
    if not fits(file, *(f"{home}/{name}" for name in CHECKER), *(f"{below}/{name}" for name in UNDERNEATH)):
        raise NotUsual
    import _ctypes as c  # what `ctypes` is made of, which takes 2 ms to load

    class Thing(c._SimpleCData):  # type: ignore[type-arg]
        _type_ = "O"

    class Size(c._SimpleCData):  # type: ignore[type-arg]
        _type_ = "l"

    class Function(c.CFuncPtr):
        _flags_ = c.FUNCFLAG_CDECL | c.FUNCFLAG_PYTHONAPI
        _restype_ = Thing

    library = c.dlopen(file, 0)

    def called(name: str) -> Callable[..., int]:
        function = Function(c.dlsym(library, f"{_SYMBOL}{name}"))
        return lambda *given: function(None, (Thing * len(given))(*given), Size(len(given)))

    return {log.name: called(log.name) for log in LOGS}


def answers(
    files: list[str], model: str, load: Callable[[], dict[str, Callable[..., int]]]
) -> list[tuple[Log, Told, float]] | None:
    """Return what is told of each file, and the seconds it took; None if a file is not usual.

    Compiled code runs without the interpreter lock. After `ALONE`, a thread for each processor takes a share.
    """
    found: list[Any] = [None] * len(files)
    left = [*range(len(files))][::-1]
    functions: dict[str, Callable[..., int]] = {}

    def work(until: float) -> None:
        room: Room | None = None
        now = 0.0
        while left and now < until:
            try:
                at = left.pop()
            except IndexError:  # another thread was faster
                return
            text, started = read(files[at]), perf_counter()
            log = next((log for log in LOGS if log.fits(text)), None)
            if log is None or len(text) > log.largest or (model and model not in log.asked):
                raise NotUsual
            if not functions:
                functions.update(load())
            if room is None or room.size < len(text) or log.holds_text > room.holds_text:
                room = None  # the memory goes before there is more
                room = Room(2 * len(text), log.holds_text)
            told = answered(functions[log.name], log, text, room, model)
            now = perf_counter()
            found[at] = log, told, now - started

    def help_out(done: Any) -> None:
        try:
            work(float("inf"))
        except Exception:
            left.clear()
        finally:
            done.release()

    work(perf_counter() + ALONE)
    others = min(len(os.sched_getaffinity(0)) - 1, len(left) - 1)
    if others > 0:
        from _thread import allocate_lock, start_new_thread

        ends = [allocate_lock() for _ in range(others)]
        for end in ends:
            end.acquire()
            start_new_thread(help_out, (end,))
        try:
            work(float("inf"))
        except Exception:
            left.clear()
        for end in ends:
            end.acquire()
    elif left:
        work(float("inf"))
    return None if None in found else found


class Room:
    """Memory for compiled code, for files of up to some bytes; `holds_text` tells whether keys of them hold texts.

    The system gives a page of it when it is first written.

    Compiled code could make these arrays itself, and would be slower with them; see
    `latchfree_lincheck.engine.logs.frontiers`.
    """

    def __init__(self, size: int, holds_text: bool) -> None:
        from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap

        lines, nodes, work = size // SHORTEST + 1, 1 << 13, 5 * (size // SHORTEST + 1) + 8
        if holds_text:
            while nodes < (1 << 13) + 3 * size:
                nodes *= 2
            work += 2 * size + nodes
        tables = [(CONFIGURATIONS, 4), (CONFIGURATIONS, 4), (4 * CONFIGURATIONS,), (PATHS, 2)]
        shapes = [(14,), (6,), (62,), (62,), (62,), *tables, (lines, COLUMNS), (work,), (nodes, 2), (2 * nodes,), (1,)]
        ends = [0]
        for rows, *columns in shapes:
            ends.append(ends[-1] + 8 * rows * (columns[0] if columns else 1))
        text = ends[-1] + 20 * lines
        block = memoryview(mmap(-1, text + holds_text * size, MAP_PRIVATE | MAP_ANONYMOUS))
        arrays = [block[low:high].cast("q", shape) for low, high, shape in zip(ends, ends[1:], shapes, strict=False)]
        self.size, self.holds_text = size, holds_text
        self.told = memoryview(bytearray(8 * TOLD)).cast("q")
        self.given = tuple(arrays[:9]), arrays[9], block[ends[-1] : text].cast("i", (lines, 5)), arrays[10]
        self.states = tuple(arrays[11:])
        self.held = block[text:]


def answered(function: Callable[..., int], log: Log, text: bytes, room: Room, model: str) -> Told:
    """Return what a compiled function tells about a log."""
    if log.holds_text:
        answer = function(text, room.told, *room.given, room.states, room.held)
    elif log.takes_model:
        answer = function(text, room.told, *room.given, MODELS.index(model) if model else -1)
    else:
        answer = function(text, room.told, *room.given)
    if answer not in (OK, VIOLATION):
        raise NotUsual
    if answer == OK:
        told = Told(log, answer, b"", [room.told[0]], b"")
    else:
        held = bytes(room.held[: room.told[HELD]]) if log.holds_text else b""
        told = Told(log, answer, text, room.told.tolist(), held)
    if log.takes_model:
        told.model = MODELS[room.told[MODEL]]
        told.engine = f"monitor:{told.model}" if room.told[MONITORED] else "frontier"
        told.name = bare(text, room.told[NAME]) if room.told[NAME] >= 0 else ""
    return told


def _home(package: str) -> str:
    """Return the folder of a package, which is not imported."""
    for finder in sys.meta_path:
        spec = finder.find_spec(package, None)
        if spec is not None and spec.submodule_search_locations is not None:
            return str(next(iter(spec.submodule_search_locations)))
    raise NotUsual


def judged(
    files: list[str], out: str, quiet: bool, model: str, load: Callable[[], dict[str, Callable[..., int]]] = loaded
) -> tuple[int, bytes] | None:
    """Judge files, write what is to be written, and return the exit code and what is to be printed.

    Parameters
    ----------
    files, out, quiet, model
        What was asked: paths, a folder, whether to say less, and a model, or "".
    load : callable
        Returns the compiled functions; tests have others than the library's.

    Returns
    -------
    tuple of int and bytes, or None
        None if something is not usual; then nothing was printed.
    """
    found = answers(files, model, load) if files else None
    if found is None:
        return None
    lines: list[str] = []
    written: dict[str, str] = {}
    again = ""
    for file, (log, told, seconds) in zip(files, found, strict=True):
        name = told.name or stem(file)
        if told.answer == OK:
            if not quiet:
                lines.append(f"{file}: {name}: ok ({told.told[0]:,} operations, {seconds:.3f} s, {told.engine})")
            continue
        explanation = explained(log, told, seconds)
        alone = stem(file) if name == stem(file) else f"{stem(file)}-{name}"
        if " \n" in explanation or not _PLAIN.issuperset(alone):
            return None
        lines += [f"{file}: {name}: violation", explanation]
        written[f"{out}/check/{alone}.txt"] = explanation
        again = f"latchfree check {quoted(file)} --model {told.model}"
    if again:
        lines.append(again)
        os.makedirs(f"{out}/check", exist_ok=True)  # noqa: PTH103
        for path, explanation in written.items():
            publish(path, f"{explanation}\n".encode())
    return VIOLATION if again else OK, "".join(f"{line}\n" for line in lines).encode()


def quoted(word: str) -> str:
    """Return a word as `shlex.quote` writes it for a shell."""
    return word if _UNQUOTED.issuperset(word) else "'" + word.replace("'", "'\"'\"'") + "'"


def publish(path: str, content: bytes) -> None:
    """Write a file that appears whole; what is no file that we may write is left to the ordinary path."""
    from latchfree_support.replacing import replace_file

    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and (not stat.S_ISREG(mode) or not os.access(path, os.W_OK)):
        raise NotUsual
    replace_file(path, content, None if mode is None else stat.S_IMODE(mode))
