"""Settings of all tests: hypothesis profiles, the seed of random tests, a cache of compiled code, and the workers."""

import gc
import os
import random
import secrets
import signal
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

#: Seed of every test that draws random numbers itself; LATCHFREE_TEST_SEED overrides it.
SEED = int(os.environ.get("LATCHFREE_TEST_SEED", "20120225"))

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")

#: Nothing depends on how fast the machine is: `too_slow` is about time, as the deadline is.
_COMMON = {"deadline": None, "database": None, "print_blob": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", derandomize=True, **_COMMON)
settings.register_profile("thorough", max_examples=1000, **_COMMON)
settings.load_profile(PROFILE)

# Started in the background of a script, it and every process that it starts would ignore Ctrl-C, which tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Before anything of ours is imported: the folder is chosen where a function is decorated.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
os.environ.setdefault("NUMBA_CACHE_DIR", str(_CACHE / "latchfree-tests"))

# NumPy starts a thread for each further processor, which waits for work on matrices. It spins for up to 0.1 s before it
# sleeps, in each of the many processes of the tests; here it sleeps at once, after 2 ** 4 cycles.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

# The sources of the explorer are what is tested, also where somebody has compiled them; tests exchange parts of them.
os.environ.setdefault("LATCHFREE_EXPLORE_COMPILED", "0")


def pytest_report_header():
    return f"seed: LATCHFREE_TEST_SEED={SEED}, hypothesis profile: HYPOTHESIS_PROFILE={PROFILE}"


@pytest.fixture(scope="module", autouse=True)
def frozen():
    """What a process has gathered until a file begins, no `gc.collect` of a test of that file looks at.

    Pytest has millions of objects, and each file leaves compiled functions: looking at all of them took a third of the
    time of all tests.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def rng():
    """A random generator with the seed of the run, which pytest shows with a failure."""
    print(f"LATCHFREE_TEST_SEED={SEED}")
    return random.Random(SEED)


# arenas --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def arena():
    """A private arena."""
    from latchfree import Arena

    return Arena.anonymous(64 << 20)


@pytest.fixture
def trie(arena):
    """An empty map of integers to integers in that arena."""
    from latchfree import Ctrie

    return Ctrie(keys=int, values=int, arena=arena)


@pytest.fixture
def shared_name():
    """A name for a shared arena that nobody else has; whatever is there in the end is removed."""
    name = f"test-{os.getpid()}-{secrets.token_hex(6)}"
    yield name
    Path(f"/dev/shm/latchfree-{name}").unlink(missing_ok=True)


# several workers (pytest -n auto) ------------------------------------------------------------------------------------


#: Files of few tests that take long: they begin first, else one worker still has them when the others have ended.
LONG = (
    "tests/evidence/test_mutants.py",
    "tests/evidence/stress/test_lifecycle.py",
    "tests/evidence/refinement/traces/test_traces.py",
    "tests/explore/python/test_reduction.py",
    "tests/explore/python/test_real_instructions.py",
    "tests/explore/python/test_real_loop.py",
    "tests/lincheck/testing/test_concurrent.py",
    "tests/teach/grading/test_grader.py",
    "tests/impl/arena/test_forking.py",
    "tests/boundaries/test_boundaries.py",
    "tests/boundaries/test_errors.py",
    "tests/bench/test_topics.py",
    "tests/evidence/refinement/bridge/test_edge_replay.py",
    "tests/evidence/refinement/bridge/test_retirement.py",
    "tests/evidence/stress/test_topics.py",
    "tests/evidence/test_groups.py",
    "tests/impl/test_elsewhere.py",
    "tests/spec/test_random_runs.py",
    "tests/typing/test_user_types.py",
)


def scope(file):
    """What one worker runs: a file, or all files of the pipeline."""
    return "pipeline" if file.startswith("tests/pipeline/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """A worker for each processor and one for the time in which others wait, each with 3 GB of memory; four at most."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(4, len(os.sched_getaffinity(0)) + 1, memory // (3 << 30)))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """With several workers, the pipeline comes first, then the long files, then the files with the most tests."""
    if not hasattr(config, "workerinput"):
        return
    files = [scope(item.nodeid.split("::")[0]) for item in items]
    tests = Counter(files)
    place = {file: (file != "pipeline", file not in LONG, -tests[file], at) for at, file in enumerate(tests)}
    items[:] = [item for _, item in sorted(zip(files, items, strict=True), key=lambda pair: place[pair[0]])]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file is run by one worker, which then has its kernels; all tests that use Spark are, in one session."""
    from xdist.scheduler import LoadScopeScheduling

    class InOrder(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return scope(nodeid.split("::")[0])

    config.option.loadscopereorder = False  # the order is that of the tests, see `pytest_collection_modifyitems`
    return InOrder(config, log)
