"""Which extra of latchfree brings a package that is missing."""

from typing import Final

DISTRIBUTIONS: Final = {
    "google": "googleapis-common-protos",
    "grpc": "grpcio",
    "grpc_status": "grpcio-status",
    "z3": "z3-solver",
}
"""What a module is called on a package index, where the names differ."""


def fix_for(module: str) -> str:
    """Return one line that names a missing module and the command that installs it.

    >>> fix_for("pyspark.sql")
    'pyspark is not installed; fix: pip install "latchfree[spark]"'
    """
    from latchfree.errors import MissingExtra
    from latchfree.extras import missing

    return str(missing(module) or MissingExtra(module.partition(".")[0], ""))
