"""The sequential models are cheap to import: they need no package but Python's own."""

import subprocess
import sys

PROGRAM = """
import sys
import latchfree_model
import latchfree_model.tlc
print(*sorted(name for name in sys.modules if "." not in name and name not in sys.stdlib_module_names))
"""


def test_models_and_the_driver_of_tlc_import_no_other_package() -> None:
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{PROGRAM}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"__main__", "latchfree_model"}
