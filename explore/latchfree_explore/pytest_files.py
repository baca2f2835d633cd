"""Write a failure as a pytest file: the test fails as long as the bug is there."""

from __future__ import annotations

import json
from typing import Any, Final

_TEMPLATE: Final = '''"""{kind}: {message}

Written by latchfree explore; the test fails as long as the bug is there.
"""

from {module} import explore, replay

CASE = {case}


def test_the_schedule_does_not_fail():
    result = replay(CASE)
    assert result.verdict != "violation", result.explain()


def test_nor_does_one_with_as_few_preemptions():
    # The schedule may not fit the code any more once that is changed; the scenario does.
    result = explore(
        {target!r}, scenario={scenario!r}, strategy="bounded", bound={bound}, schedules=20_000, plain={plain!r},
        memory={memory!r}, races={races!r},
    )
    assert result.verdict != "violation", result.explain()
'''

_MUTANT_TEMPLATE: Final = '''"""{kind}: {message}

Written by latchfree explore; the test fails as long as the bug is there. It runs in a process of its own, because
a mutant must be applied before anything else is loaded.
"""

import json
import os
import subprocess
import sys

CASE = {case}

CODE = """
import json, sys
from {module} import replay
result = replay(json.loads(sys.argv[1]))
sys.exit(result.explain() if result.verdict == "violation" else 0)
"""


def test_the_schedule_does_not_fail():
    environment = {{**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}}
    command = [sys.executable, "-c", CODE, json.dumps(CASE)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stderr
'''


def pytest_file(document: dict[str, Any], preemptions: int, *, module: str = "latchfree_explore") -> str:
    """Return the text of a pytest file for a replay document; `module` has the `explore` and `replay` to call."""
    lines = [f"    {name!r}: {value!r}," for name, value in document.items()]
    message = document["message"].replace("\\", "\\\\").replace('"', "'")
    template = _MUTANT_TEMPLATE if document["mutant"] else _TEMPLATE
    return template.format(
        module=module,
        kind=document["kind"],
        message=message,
        case="{\n" + "\n".join(lines) + "\n}",
        target=document["target"],
        scenario=document["scenario"],
        plain=document["plain"],
        memory=document["memory"],
        races=document["races"],
        bound=preemptions,
    )


def dumped(document: dict[str, Any]) -> str:
    """Return a replay document as text."""
    return json.dumps(document, indent=2) + "\n"
