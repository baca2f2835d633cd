"""Every Python block of the README and the docs runs, in order, page by page, and prints what the page says."""

import contextlib
import io
import os
import re
from pathlib import Path

import pytest
from doc_pages import PAGES, Block, agree, blocks, run_program, title, with_output


def of_this_process(text: str) -> str:
    """Return a block in which an arena whose name the page chooses is one of this process."""
    return re.sub(r'(Arena\.(?:create\(name=|open\()"[\w-]+)"', rf'\1-{os.getpid()}"', text)


def python_blocks(page: Path) -> list[tuple[Block, Block | None]]:
    """Return the Python blocks of a page that run here, and beside each the block that says what it prints."""
    return [(block, output) for block, output in with_output(blocks(page)) if not block.program]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("page", [p for p in PAGES if python_blocks(p)], ids=title)
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some blocks write files
    namespace: dict[str, object] = {"__name__": page.stem}
    for block, output in python_blocks(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(of_this_process(block.text), f"{page.name} line {block.line}", "exec"), namespace)
        if output is not None:
            assert agree(output.text.splitlines(), printed.getvalue().splitlines()), printed.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if any(each.program for each in blocks(p))], ids=title)
def test_a_program_of_a_page_prints_what_the_page_says(page: Path, tmp_path: Path) -> None:
    wrong = run_program(page, tmp_path)
    assert not wrong, "\n\n".join(wrong)


def test_some_pages_have_code() -> None:
    assert sum(len(python_blocks(page)) for page in PAGES) >= 8


def test_an_output_follows_its_block() -> None:
    for page in PAGES:
        outputs = [block for block in blocks(page) if block.note == "output"]
        assert len(outputs) == sum(output is not None for _, output in with_output(blocks(page))), page.name
