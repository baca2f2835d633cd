"""Other versions of Python: replay files of this one run there step by step the same."""

import json
import subprocess

import pytest

pytest.importorskip("greenlet")

from interpreters import prepared

from latchfree_explore import explore_object
from latchfree_explore.python.replays import find_class, to_json

VERSIONS = ("3.11", "3.12", "3.13")
FAILING = {
    "shared_objects:StaleMap": ("map", "put(0, 1); put(1, 1) | put(0, 2); get(0)", "free"),
    "shared_objects:Lru": ("map", "put(0, 1) | put(1, 1); get(0)", "free"),
    "shared_objects:AddingCounter": ("counter", "add(1) | add(1)", "free"),
    "shared_objects:AddingConvertingCounter": ("counter", "add(1) | add(1)", "gil"),
}
REPLAY = """
import sys
from latchfree_explore import replay_python
for file in sys.argv[1:]:
    result = replay_python(file)
    print(result.verdict, "|", result.reason)
"""


@pytest.fixture(scope="module", params=VERSIONS)
def other(request, tmp_path_factory):
    return request.param, *prepared(request.param, tmp_path_factory.mktemp(f"python{request.param}"))


@pytest.fixture(scope="module")
def replays(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replays")
    written = {}
    for number, (target, (model, scenario, switches)) in enumerate(FAILING.items()):
        result = explore_object(find_class(target), scenario, model=model, switches=switches, raises=False)
        assert result.wrong is not None, target
        path = folder / f"{number}.json"
        path.write_text(json.dumps(to_json(result, target=target, model=model)))
        written[path] = result.reason
    return written


@pytest.mark.slow
def test_replay_files_of_this_version_run_on_others_step_by_step(other, replays):
    _, python, environment = other
    command = [python, "-c", REPLAY, *map(str, replays)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"violation | {reason}" for reason in replays.values()]
