"""Every Python block of the README and the docs runs, in order, page by page."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[str]:
    """The blocks of a page; an arena whose name the page chooses is one of this process."""
    return [
        re.sub(r'(Arena\.(?:create\(name=|open\()"[\w-]+)"', rf'\1-{os.getpid()}"', block)
        for block in BLOCK.findall(page.read_text())
    ]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_page_runs(page: Path) -> None:
    namespace: dict[str, object] = {"__name__": page.stem}
    for number, block in enumerate(blocks(page), 1):
        exec(compile(block, f"{page.name} block {number}", "exec"), namespace)


def test_some_pages_have_code() -> None:
    assert sum(len(blocks(page)) for page in PAGES) >= 8


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"
