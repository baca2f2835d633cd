"""How a check ends: errors of Spark's, wrong input, and all others."""

import pytest
from pyspark.errors import PySparkRuntimeError, PySparkValueError

from latchfree_cli import exits
from latchfree_cli.commands.pipeline.endings import ending
from latchfree_spark.check import BadInput, JobRefused

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


def test_a_defect_of_ours_passes():
    with pytest.raises(KeyError), ending("start again"):
        raise KeyError("x")
