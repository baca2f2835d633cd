"""Settings of all tests: hypothesis profiles, the seed of random tests, and a cache of compiled code of their own."""

import hashlib
import os
import random
from pathlib import Path

import pytest
from hypothesis import settings

#: Seed of every test that draws random numbers itself; LATCHFREE_TEST_SEED overrides it.
SEED = int(os.environ.get("LATCHFREE_TEST_SEED", "20120225"))

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")

settings.register_profile("quick", derandomize=True, deadline=None, database=None, print_blob=True)
settings.register_profile("thorough", deadline=None, database=None, print_blob=True, max_examples=1000)
settings.load_profile(PROFILE)


def _compiled_code() -> Path:
    """A cache folder named by all sources that compile: an edit of any of them starts an empty one."""
    root = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for file in sorted([*root.glob("impl/**/*.py"), *root.glob("lincheck/**/*.py")]):
        digest.update(str(file.relative_to(root)).encode())
        digest.update(file.read_bytes())
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "latchfree-tests" / digest.hexdigest()[:16]


# Before anything of ours is imported: the folder is chosen where a function is decorated.
os.environ.setdefault("NUMBA_CACHE_DIR", str(_compiled_code()))


def pytest_report_header():
    return f"seed: LATCHFREE_TEST_SEED={SEED}, hypothesis profile: HYPOTHESIS_PROFILE={PROFILE}"


@pytest.fixture
def rng():
    """A random generator with the seed of the run, which pytest shows with a failure."""
    print(f"LATCHFREE_TEST_SEED={SEED}")
    return random.Random(SEED)
