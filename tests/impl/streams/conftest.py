"""Arenas for rings: of both kinds, or shared."""

import pytest

from latchfree import Arena


@pytest.fixture(params=["private", "shared"])
def either(request, shared_name):
    if request.param == "private":
        yield Arena.anonymous(64 << 20)
    else:
        with Arena.create(name=shared_name, capacity=64 << 20) as arena:
            yield arena


@pytest.fixture
def shared(shared_name):
    with Arena.create(name=shared_name, capacity=64 << 20) as arena:
        yield arena
