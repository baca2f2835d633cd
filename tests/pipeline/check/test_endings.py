"""How a check begins and ends: work of nobody, errors of Spark's, wrong input, and all others."""

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkRuntimeError, PySparkValueError

from latchfree_cli import exits
from latchfree_cli.commands.pipeline.endings import ending
from latchfree_spark.check import BadInput, JobRefused
from latchfree_spark.check.files import chunk_file, publish
from latchfree_spark.check.output.manifest import partial_folder, work_folder
from latchfree_spark.match.errors import BadMessages, NoMessages

LOST = "Job aborted\nand the stack of it"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (PySparkRuntimeError(LOST), exits.TOOL, "Spark failed: Job aborted; start again"),
        (PySparkValueError(LOST), exits.TOOL, "Spark failed: Job aborted; start again"),
        (BadInput(["x.jsonl:3: wrong"]), exits.USAGE, "x.jsonl:3: wrong"),
        (JobRefused("it is there"), exits.USAGE, "it is there"),
        (exits.Stop(exits.NOTHING, "nothing"), exits.NOTHING, "nothing"),
    ],
)
def test_the_exit_code_and_the_line(error, code, said):
    with pytest.raises(exits.Stop) as stop, ending("start again"):
        raise error
    assert (stop.value.code, str(stop.value)) == (code, said)


@pytest.mark.parametrize(
    ("error", "code"),
    [(NoMessages("none"), exits.NOTHING), (BadMessages("none"), exits.USAGE), (Py4JError("none"), exits.TOOL)],
)
def test_errors_of_messages(error, code):
    with pytest.raises(exits.Stop) as stop, ending("again", wrong=(BadMessages,), nothing=(NoMessages,)):
        raise error
    assert stop.value.code == code


def test_a_defect_among_messages_passes():
    with pytest.raises(ValueError, match="x"), ending("again", wrong=(BadMessages,), nothing=(NoMessages,)):
        raise ValueError("x")


def test_a_defect_of_ours_passes():
    with pytest.raises(KeyError), ending("start again"):
        raise KeyError("x")


def test_work_of_nobody_is_not_taken_up(tmp_path):
    """A second attempt at a task may outlive its job, and write a chunk to a folder that it makes anew."""
    folder = partial_folder(tmp_path / "out")
    chunk = chunk_file(folder, "verdicts", 1)
    publish(chunk, b"PAR1")
    with pytest.raises(JobRefused) as refused, work_folder(tmp_path / "out", {}):
        pass
    assert str(refused.value) == f"{folder}: it has verdicts, and no manifest.json; remove the folder"
    assert chunk.exists()
    chunk.unlink()
    chunk.parent.rmdir()
    (folder / ".manifest.json.cut").write_bytes(b"{")
    with work_folder(tmp_path / "out", {}) as made:
        assert (made / "manifest.json").exists()
