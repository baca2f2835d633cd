"""The citation names the version of the package and the paper."""

from doc_pages import ROOT

import latchfree


def test_the_citation_is_of_this_version() -> None:
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "cff-version: 1.2.0"
    assert f"version: {latchfree.__version__}" in lines
    assert "    doi: 10.1145/2145816.2145836" in lines
