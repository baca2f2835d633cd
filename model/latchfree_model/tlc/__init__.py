"""Run TLC, the model checker of TLA+, and read its output."""

from latchfree_model.tlc.archive import class_archive
from latchfree_model.tlc.manifest import SpecModel, load_manifest
from latchfree_model.tlc.record import counts, record, unrecorded
from latchfree_model.tlc.result import TlcResult
from latchfree_model.tlc.run import agree, kill_running, run_model
from latchfree_model.tlc.tools import ToolMissing, find_jar, find_java, java_version, spec_dir
from latchfree_model.tlc.trace import Trace, TraceState

__all__ = [
    "SpecModel",
    "TlcResult",
    "ToolMissing",
    "Trace",
    "TraceState",
    "agree",
    "class_archive",
    "counts",
    "find_jar",
    "find_java",
    "java_version",
    "kill_running",
    "load_manifest",
    "record",
    "run_model",
    "spec_dir",
    "unrecorded",
]
