"""Read the fenced blocks of a page, run its console sessions, compare what they print.

A comment directly before a block says more about the block:

    <!-- file: NAME -->          the block is a file that later commands of the page use
    <!-- slow -->                the commands take long: only `pytest -m slow` runs them
    <!-- program -->             the Python blocks with this comment run in a process of their own, by `pytest -m slow`
    <!-- output -->              what the Python block before prints
    <!-- servers: PROGRAM -->    the commands need a server's program: only `pytest -m servers` runs them
    <!-- not run: REASON -->     the commands are not run by a test

A line `...` of a page stands for any lines of the output.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "spec" / "README.md",
    ROOT / "spec" / "CONFORMANCE.md",
    *sorted((ROOT / "teach" / "latchfree_teach" / "course").glob("*.md")),
    *sorted((ROOT / "teach" / "latchfree_teach" / "course" / "lessons").glob("*/page.md")),
]

FLOORS = ("support", "impl", "model", "lincheck", "explore", "evidence", "teach", "fsck", "pipeline", "cli")

BLOCK = re.compile(
    r"^(?:<!-- (?P<note>[^\n]*) -->\n)?(?P<indent> *)```(?P<kind>\w*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)

VARYING = [
    (re.compile(r"[━─┄]+"), "─"),  # the width of a table is that of its longest cell
    (re.compile(r"[ \t]+"), " "),
    (re.compile(r" ?│ ?"), "│"),
    (re.compile(r"\b[\d,]+(?:\.\d+)? (m?s)\b"), r"# \1"),  # seconds
    (re.compile(r"\b[\d,]+(?:\.\d+)? (a second|kB|MB|GB|seconds)\b"), r"# \1"),
    (re.compile(r"(\w\.py):\d+"), r"\1:#"),  # a line of a source
    (re.compile(r"\[\d+\]( -?\d+)?( -> -?\d+)?"), "[#]"),  # a word of memory, what it holds, and what it holds then
    (re.compile(r"│\d+(?=│)"), "│#"),  # the number of a step
    (re.compile(r"\b\d+ accesses\b"), "# accesses"),
    (re.compile(r"\([0-9a-f]{8,}\)|\b0x[0-9a-f]+\b"), "#"),  # an address, a word
    (re.compile(r"-[0-9a-f]{10}\.jsonl"), "-#.jsonl"),  # the digest of a name
    (re.compile(r"\b[\d,]+ of them overlapping"), "# of them overlapping"),  # how real threads met
    (re.compile(r"(refuted: ).*"), r"\1#"),  # the numbers that a solver finds
]
"""What differs from run to run, from machine to machine, or with any line of the sources."""

NOISE = re.compile(
    r"^(WARNING: Using incubator modules|Using Spark's default log4j|Setting default log level|To adjust logging level"
    r"|\d\d/\d\d/\d\d [\d:]+ WARN )"
)
"""What Spark's Java says of itself, which depends on its version and on the machine."""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page: the language, the text, and what the comment before it says."""

    kind: str
    text: str
    note: str
    line: int

    @property
    def file(self) -> str | None:
        """The name of the file that the block is."""
        return self.note.removeprefix("file: ") if self.note.startswith("file: ") else None

    @property
    def slow(self) -> bool:
        """Whether only `pytest -m slow` runs the block."""
        return self.note.startswith("slow")

    @property
    def program(self) -> bool:
        """Whether the block is a part of a program that runs in a process of its own."""
        return self.note == "program"

    @property
    def server(self) -> str | None:
        """The program without which the block does not run; only `pytest -m servers` runs the block."""
        return self.note.removeprefix("servers: ") if self.note.startswith("servers: ") else None

    @property
    def left_out(self) -> bool:
        """Whether no test runs the block."""
        return self.note.startswith("not run: ")

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each command of a console session and the lines that it is to print."""
        lines = self.text.splitlines()
        while lines:
            first = lines.pop(0)
            if not first.startswith("$ "):
                raise ValueError(f"line {self.line}: a console block begins with '$ ': {first!r}")
            command = [first.removeprefix("$ ")]
            while command[-1].endswith("\\"):
                command.append(lines.pop(0))
            printed = []
            while lines and not lines[0].startswith("$ "):
                printed.append(lines.pop(0))
            yield "\n".join(command), printed


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        indent = match["indent"]
        body = "".join(line.removeprefix(indent) for line in match["text"].splitlines(keepends=True))
        found.append(Block(match["kind"], body, match["note"] or "", text.count("\n", 0, match.start()) + 1))
    return found


def title(page: Path) -> str:
    """Return what tests call a page: its name, or that of its folder for the page of a lesson."""
    return page.parent.name if page.name == "page.md" else page.name


def prose(page: Path) -> str:
    """Return a page without its fenced blocks and comments."""
    return re.sub(r"<!--.*?-->", "", BLOCK.sub("", page.read_text(encoding="utf-8")), flags=re.DOTALL)


def plain(line: str) -> str:
    """Return a line with everything that varies replaced."""
    for pattern, instead in VARYING:
        line = pattern.sub(instead, line)
    return line.strip()


def agree(expected: list[str], printed: list[str]) -> bool:
    """Return whether the lines printed are those of the page, where `...` stands for any lines."""
    wanted = [plain(line) for line in expected if line.strip()]
    got = [plain(line) for line in printed if line.strip() and not NOISE.match(line)]
    places = {0}  # how many lines of `got` the lines of `wanted` so far may stand for
    for line in wanted:
        if line == "...":
            places = set(range(min(places), len(got) + 1)) if places else set()
        else:
            places = {place + 1 for place in places if place < len(got) and got[place] == line}
    return len(got) in places


def difference(expected: list[str], printed: list[str]) -> str:
    """Return how the lines printed differ from those of the page, as a unified diff, varying parts replaced."""
    sides = [[plain(line) for line in lines if line.strip() and not NOISE.match(line)] for lines in (expected, printed)]
    return "\n".join(difflib.unified_diff(*sides, "the page", "the command", lineterm=""))


class Shell:
    """A folder in which the commands of one page run one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self.code = 0
        programs = folder / "programs"
        programs.mkdir()
        program = programs / "latchfree"
        program.write_text(
            f"#!/bin/sh\nexec {sys.executable} -c \"import sys; sys.argv[0] = 'latchfree'; "
            'from latchfree_cli.main import main; sys.exit(main())" "$@"\n'
        )
        program.chmod(0o755)
        path = [str(ROOT / floor) for floor in FLOORS]
        self.environment = os.environ | {
            "PATH": f"{programs}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([*path, os.environ.get("PYTHONPATH", "")]),
            "COLUMNS": "200",
            "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8",
            "PYTHONWARNINGS": "",
        }

    def write(self, block: Block) -> None:
        """Write a block that is a file."""
        assert block.file is not None
        target = self.folder / block.file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text, encoding="utf-8")

    def run(self, command: str) -> list[str]:
        """Run a command and return what it printed, errors last; `$?` is the exit code of the command before."""
        shell = shutil.which("bash")
        assert shell is not None
        done = subprocess.run(
            [shell, "-c", f"(exit {self.code})\n{command}"],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.code = done.returncode
        return (done.stdout + done.stderr).replace(str(self.folder), "/data").splitlines()


def with_output(found: list[Block]) -> list[tuple[Block, Block | None]]:
    """Return each Python block that runs, and beside it the block that says what it prints."""
    return [
        (block, after if after is not None and after.note == "output" else None)
        for block, after in zip(found, [*found[1:], None], strict=False)
        if block.kind == "python" and not block.left_out
    ]


def run_program(page: Path, folder: Path) -> list[str]:
    """Run the blocks of a page that are a program, in one process; return how the output differs from the page."""
    shell = Shell(folder)
    for block in blocks(page):
        if block.file:
            shell.write(block)
    parts = [(block, output) for block, output in with_output(blocks(page)) if block.program]
    mark = "---- the next block"
    text = f"\nprint({mark!r}, flush=True)\n".join(block.text for block, _ in parts)
    (shell.folder / "program.py").write_text(text, encoding="utf-8")
    printed = shell.run("python program.py 2> errors || cat errors")
    wrong = []
    for block, output in parts:
        end = printed.index(mark) if mark in printed else len(printed)
        mine, printed = printed[:end], printed[end + 1 :]
        expected = output.text.splitlines() if output is not None else []
        if not agree(expected, mine):
            wrong.append(f"{page.name}:{block.line}\n{difference(expected, mine)}")
    return wrong


def play(page: Path, folder: Path, *, slow: bool, servers: bool = False) -> list[str]:
    """Run the console sessions of a page in a folder; return how what was printed differs from the page.

    Parameters
    ----------
    page
        The page.
    folder
        An empty folder.
    slow
        Whether to run the slow blocks, too. Blocks that are not run at all are left out in any case.
    servers
        Whether to run the blocks that need a server's program, too.

    Returns
    -------
    list[str]
        One text a command that differs, with a diff.
    """
    shell = Shell(folder)
    wrong = []
    for block in blocks(page):
        if block.file:
            shell.write(block)
        if block.kind != "console" or block.left_out or (block.slow and not slow) or (block.server and not servers):
            continue
        for command, expected in block.commands():
            printed = shell.run(command)
            if not agree(expected, printed):
                where = f"{page.name}:{block.line}: $ {command} (exit code {shell.code})"
                wrong.append(f"{where}\n{difference(expected, printed)}")
    return wrong
