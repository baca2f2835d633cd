"""The report of a run: what stands in it, and that nothing gets out of its place."""

import re
from html.parser import HTMLParser

import pytest

from latchfree_lincheck.record import Run, SharedRecorder
from latchfree_lincheck.record.faults import Fault

NASTY = '</text><script>alert("é")</script>&'


class Elements(HTMLParser):
    """Collects elements and links, and checks that each element that begins ends."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.links = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.links += [value for name, value in attributes if name in ("href", "src")]
        assert not any(name == "style" or name.startswith("on") for name, _ in attributes)
        if tag not in ("meta", "rect", "line"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def ran():
    """A run with a stale read, a fault, and calls that failed and were lost."""
    with SharedRecorder() as recorder:
        with recorder.call(0, "write", 1) as call:
            call.result = None
        with recorder.fault(Fault(NASTY, lambda: None, lambda: None)):
            with pytest.raises(TimeoutError), recorder.call(0, "write", 2):
                raise TimeoutError(f"{NASTY}\ud800")
            with pytest.raises(ConnectionRefusedError), recorder.call(1, "write", 3, definite=(OSError,)):
                raise ConnectionRefusedError
        with recorder.call(1, "read") as call:
            call.result = None
        records = recorder.records()
    return Run(NASTY, 7, 2, records, records.calls[0].begun, records.calls[-1].ended, ("restart toy",))


def test_a_report_says_what_happened_and_stays_in_its_place(ran, tmp_path):
    assert ran.save(tmp_path, "register").verdict == "violation"
    text = (tmp_path / "report.html").read_text()
    elements = Elements(text)
    assert "script" not in elements.seen
    assert elements.links == ["history.html"]
    assert "default-src 'none'" in text
    for expected in (
        "read() returned None, but the register held ",
        "2 clients, 4 calls",
        "seed 7",
        "restart toy (the run ended before)",
        "latchfree check history.jsonl --model register",
        '<td class="number">1</td>',
        "TimeoutError: &lt;/text&gt;",
        '<line class="bad"',
    ):
        assert expected in text, expected
    assert len(re.findall(r'<rect class="return"', text)) >= 1
    assert len(re.findall(r'<rect class="lost"', text)) == 1
    assert len(re.findall(r'<rect class="fail"', text)) == 1
    assert len(re.findall(r'<rect class="fault"', text)) == 1


def test_a_run_that_is_right_has_no_red(tmp_path):
    with SharedRecorder() as recorder:
        with recorder.call(0, "write", 1) as call:
            call.result = None
        records = recorder.records()
    run = Run("fine", 0, 1, records, records.calls[0].begun, records.calls[0].begun)
    assert run.save(tmp_path / "new" / "folder", "register").verdict == "ok"
    text = (tmp_path / "new" / "folder" / "report.html").read_text()
    Elements(text)
    assert 'class="bad"' not in text
    assert '<body class="ok">' in text


def test_many_faults_are_drawn(tmp_path):
    with SharedRecorder() as recorder:
        with recorder.call(0, "write", 1) as call:
            call.result = None
        for number in range(30):
            with recorder.fault(Fault(f"fault {number} " + "x" * 100, lambda: None, lambda: None)):
                pass
        records = recorder.records()
    run = Run("fine", 0, 1, records, records.calls[0].begun, records.faults[-1].ended)
    run.save(tmp_path, "register")
    text = (tmp_path / "report.html").read_text()
    Elements(text)
    assert len(re.findall(r'<rect class="fault"', text)) == 30
    assert len(re.findall(r'<text class="fault"', text)) == 8
