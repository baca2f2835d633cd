"""One grader for all tests of a worker: loading the explorer takes longer than grading twenty submissions."""

from collections.abc import Iterator

import pytest

from latchfree_teach import Grader


@pytest.fixture(scope="session")
def grader() -> Iterator[Grader]:
    with Grader(seconds=60) as made:
        yield made
