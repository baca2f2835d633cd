"""Links and anchors of the pages lead somewhere, the glossary has its terms, and the words are those of the field."""

import re
import sys
from pathlib import Path

import pytest
from doc_pages import PAGES, ROOT, prose

HERE = "https://github.com/latchfree/latchfree/blob/main/"
RAW = "https://raw.githubusercontent.com/latchfree/latchfree/main/"
LINK = re.compile(r"\]\(([^)\s]+)\)")
ALL = [*PAGES, ROOT / "CHANGELOG.md"]

#: What every page may rely on the glossary to explain.
TERMS = """
ABA, action, adopt, arena, C-node, CAS, codec, conjunct, deadlist, deadlock, descriptor, dialect, DPOR, epoch,
explorer, false positive, fence, free list, frontier, futex, GCAS, generation, history, I-node, interleaving,
interpreter lock, invariant, kernel, L-node, label, lemma, limbo, linearizable, linearization point (LP), livelock,
lock-free, lost wakeup, model, monitor, mutant, nemesis, obligation, participant, pattern, PCT, pending, pin,
preemption, queue group, quiescent, RDCSS, reaper, reclaim, refinement, replay, retire, root, S-node, scenario,
schedule, seal, seed, sequential model, shrinking, slot, snapshot, spec, spin lock, state graph, store buffer,
strategy, stress, subscription, T-node, target, TLA+, TLC, token bucket, tomb, trace, twin, verdict, WGL, wildcard,
witness
"""

#: Words that these pages used to use for what the field has a word for.
RETIRED = [
    "burial", "bury", "buries", "buried", "grave", "graves", "graveyard", "keeper", "massacre", "orphan", "orphans",
    "hold still", "let go of",
]  # fmt: skip

#: Sentences that readers stumbled over.
RIDDLES = [
    "what used fewer of them stands for what used more",
    "as many states were found as there are events",
    "whoever is killed",
    "Memory comes back by itself",
]


def anchors(page: Path) -> set[str]:
    """Return the anchors that the headings and the marked places of a page have."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        found.add(slug if slug not in found else f"{slug}-1")
    return found | set(re.findall(r'<a id="([^"]+)"></a>', page.read_text(encoding="utf-8")))


def slug(term: str) -> str:
    """Return the anchor of a term of the glossary."""
    return re.sub(r"[^\w\- ]", "", term.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", ALL, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", prose(page))):
        if link.startswith((HERE, RAW)):
            target, _, anchor = link.removeprefix(HERE).removeprefix(RAW).partition("#")
            place = ROOT / target
        elif re.match(r"https?:|mailto:", link):
            continue
        else:
            target, _, anchor = link.partition("#")
            place = page.parent / target if target else page
        assert place.exists(), f"{page.name} links to {link}, which does not exist"
        assert not anchor or anchor in anchors(place), f"{page.name}: {link}: no such heading"


def test_links_of_the_readme_work_on_a_package_index() -> None:
    for link in LINK.findall((ROOT / "README.md").read_text(encoding="utf-8")):
        assert link.startswith("https://"), f"README.md: {link} leads nowhere from the page of a package index"


def test_the_glossary_has_its_terms() -> None:
    page = ROOT / "docs" / "glossary.md"
    headings = re.findall(r"^### (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == sorted(headings, key=str.lower)
    missing = {slug(" ".join(term.split())) for term in TERMS.split(",")} - anchors(page)
    assert not missing, missing


def test_every_page_of_the_docs_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in index, page.name


@pytest.mark.parametrize("page", ALL, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_words_are_those_of_the_field(page: Path) -> None:
    text = re.sub(r"\s+", " ", prose(page) if page.name != "CHANGELOG.md" else "")
    for word in RETIRED:
        assert not re.search(rf"(?<![\w/]){word}(?![\w/.])", text, re.IGNORECASE), f"{page.name} says {word!r}"
    for riddle in RIDDLES:
        assert riddle not in text, f"{page.name} still says {riddle!r}"


def test_the_pictures_are_those_that_the_script_draws(tmp_path: Path) -> None:
    folder = ROOT / "docs" / "images"
    sys.path.insert(0, str(folder))
    try:
        import draw
    finally:
        sys.path.remove(str(folder))
    draw.draw(tmp_path)
    drawn = sorted(path.name for path in tmp_path.iterdir())
    assert drawn == ["lost-update.svg", "trie-snapshot.svg"]
    for name in drawn:
        assert (tmp_path / name).read_text(encoding="utf-8") == (folder / name).read_text(encoding="utf-8"), name
