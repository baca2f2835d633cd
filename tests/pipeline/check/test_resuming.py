"""An interrupted job whose input is not what it was: it goes on with what it began with, or says why it cannot."""

import pytest
from pipeline_jobs import put_and_get, run, verdicts

from latchfree_lincheck import write_history
from latchfree_spark.check import JobRefused, Options, check_files, job
from latchfree_spark.check.files import chunk_file, done_chunks
from latchfree_spark.check.input.finding import find
from latchfree_spark.check.input.resuming import INPUTS, remember, resumed
from latchfree_spark.check.output.manifest import partial_folder

LINE = '{"history": "later", "process": 1, "f": "get", "arguments": ["k"], "result": null, "invoke": 0, "return": 1}\n'


@pytest.fixture
def folder(tmp_path):
    """Two files of histories."""
    (tmp_path / "in").mkdir()
    for name in "ab":
        histories = [put_and_get(f"{name}{number}", seen=number % 2) for number in range(6)]
        write_history(tmp_path / "in" / f"{name}.jsonl", histories)
    return tmp_path / "in"


def interrupted(*_):
    """Stand for a kill."""
    raise KeyboardInterrupt


def test_a_job_goes_on_with_what_it_began_with(spark, folder, tmp_path, monkeypatch):
    run(spark, [folder], tmp_path / "whole")
    with monkeypatch.context() as patched:
        patched.setattr(job, "summarize", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(spark, [folder], tmp_path / "out")
    work = partial_folder(tmp_path / "out")
    chunk_file(work, "verdicts", 1).unlink()  # so this one is judged again, on the same lines
    with (folder / "a.jsonl").open("a") as file:
        file.write(LINE)
    (folder / "c.jsonl").write_text(LINE)
    summary = run(spark, [folder], tmp_path / "out")
    assert verdicts(tmp_path / "out") == verdicts(tmp_path / "whole")
    assert summary.verdicts == {"ok": 6, "violation": 6, "unknown": 0, "error": 0}
    assert [text.split(": ")[0] for text in summary.warnings] == [
        f"{folder}/a.jsonl grew since the job began",
        f"{folder}/c.jsonl appeared since the job began and were not read",
    ]
    assert not (tmp_path / "out" / INPUTS).exists()


def test_what_is_not_as_it_was_is_refused_by_name(folder, tmp_path):
    """Without Spark: nothing is started for a job that is refused."""
    before, work = find([folder]), partial_folder(tmp_path / "out")
    work.mkdir()
    assert resumed(work, before) is before
    remember(work, before)
    remember(work, find([folder / "a.jsonl"]))  # what a job began with stays
    assert resumed(work, before) is before
    (folder / "c.jsonl").write_text(LINE)
    assert resumed(work, find([folder])) == before
    elsewhere = find([folder / "a.jsonl"])
    assert resumed(work, elsewhere) is elsewhere  # another job: the manifest refuses it
    kept = (folder / "a.jsonl").read_text()
    for change, told in (
        (lambda path: path.write_text(kept.replace('"k"', '"kk"')), "a.jsonl was changed; remove the folder"),
        (lambda path: path.unlink(), "a.jsonl is gone; remove the folder to begin anew, or choose another output"),
    ):
        change(folder / "a.jsonl")
        with pytest.raises(JobRefused, match=told):
            check_files([folder], tmp_path / "out", Options("map"), open_session=interrupted)


def test_a_line_that_was_half_written_when_the_job_began(folder, tmp_path):
    work = partial_folder(tmp_path / "out")
    work.mkdir()
    with (folder / "a.jsonl").open("a") as file:
        file.write(LINE[:40])
        file.flush()
        remember(work, find([folder]))
        file.write(LINE[40:])
    with pytest.raises(JobRefused, match=r"a.jsonl has grown, and ended within a line then"):
        resumed(work, find([folder]))


def test_more_chunks_than_five_digits_tell_have_files_of_their_own(tmp_path):
    chunks = {0, 9_999, 10_000, 99_999, 100_000, 1_000_000}
    files = {chunk_file(tmp_path, "verdicts", chunk) for chunk in chunks}
    assert len(files) == len(chunks)
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.touch()
    assert done_chunks(tmp_path) == chunks
