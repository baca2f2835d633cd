"""``latchfree pipeline``: the jobs that run on Spark."""

from latchfree_cli.commands.pipeline.check import check
from latchfree_cli.commands.pipeline.match import match
from latchfree_cli.commands.pipeline.sketch import sketch
from latchfree_cli.frame import group

pipeline = group("Jobs on Spark, for what is too much for one core.", check, match, sketch)
