"""Methods as operations: what is recorded of a call, plain or awaited, and what is left alone."""

import asyncio
import itertools

import pytest

from latchfree_lincheck import check
from latchfree_lincheck.record import SharedRecorder, operation, recording


class Refused(Exception):
    pass


class Client:
    """A client of a register that may refuse, or break."""

    def __init__(self, cells):
        self.cells = cells
        self.breaks = None

    @operation(definite=(Refused,))
    def write(self, value, extra=0, *more, timeout=1):
        if self.breaks is not None:
            raise self.breaks
        self.cells["x"] = value

    @operation(name="read")
    def get(self):
        return self.cells.get("x")

    @operation
    def reread(self):
        self.get()
        return self.get()

    @operation(name="write", definite=(Refused,))
    async def write_later(self, value):
        await asyncio.sleep(0)
        if self.breaks is not None:
            raise self.breaks
        self.cells["x"] = value

    @operation(name="read")
    async def read_later(self):
        await asyncio.sleep(0)
        return self.cells.get("x")


@pytest.fixture
def recorder():
    with SharedRecorder() as made:
        yield made


def calls(recorder):
    return [(each.process, each.f, each.arguments, each.result) for each in recorder.history("h").operations]


def test_a_call_is_an_operation(recorder):
    client = Client({})
    with recording(recorder, 3, object="cell"):
        client.write(5)
        assert client.get() == 5
    assert calls(recorder) == [(3, "write", (5,), None), (3, "read", (), 5)]
    assert {each.object for each in recorder.history("h").operations} == {"cell"}


def test_elsewhere_nothing_is_recorded(recorder):
    client = Client({})
    client.write(5)
    with recording(recorder, 0):
        pass
    assert client.get() == 5
    assert calls(recorder) == []


@pytest.mark.parametrize(
    ("given", "named", "arguments"),
    [
        ((1,), {}, (1,)),
        ((1, 2), {}, (1, 2)),
        ((1, 2, 3, 4), {}, (1, 2, 3, 4)),
        ((), {"value": 1}, (1,)),
        ((), {"value": 1, "extra": 2}, (1, 2)),
        ((), {"extra": 2, "value": 1}, (1, 2)),
        ((1,), {"timeout": 9}, (1,)),
        ((1, 2, 3), {"timeout": 9}, (1, 2, 3)),
    ],
)
def test_arguments(recorder, given, named, arguments):
    with recording(recorder, 0):
        Client({}).write(*given, **named)
    assert calls(recorder) == [(0, "write", arguments, None)]


def test_a_call_that_does_not_fit_is_the_caller_s_error(recorder):
    with recording(recorder, 0), pytest.raises(TypeError):
        Client({}).write()
    assert calls(recorder) == []


def test_an_operation_that_calls_others_is_one(recorder):
    with recording(recorder, 0):
        Client({}).reread()
    assert [f for _, f, _, _ in calls(recorder)] == ["reread"]


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize(("error", "kept"), [(Refused(), 0), (TimeoutError(), 1), (ConnectionResetError(), 1)])
def test_errors_are_definite_or_not(recorder, error, kept, awaited):
    client = Client({})
    client.breaks = error
    write = (lambda value: asyncio.run(client.write_later(value))) if awaited else client.write
    with recording(recorder, 0), pytest.raises(type(error)):
        write(1)
    operations = recorder.history("h").operations
    assert len(operations) == kept
    assert all(each.return_ is None for each in operations)


def test_tasks_are_processes(recorder):
    client = Client({})

    async def one(process):
        with recording(recorder, process):
            for turn in range(5):
                await client.write_later(10 * process + turn)
                await client.read_later()

    async def all_of_them():
        await asyncio.gather(*map(one, range(3)))

    asyncio.run(all_of_them())
    history = recorder.history("h")
    assert len(history) == 30
    assert check(history, "register").verdict == "ok"
    starts = sorted((each.invoke, each.return_) for each in history.operations)
    assert any(later < end for (_, end), (later, _) in itertools.pairwise(starts)), "tasks overlap"


def test_tasks_under_one_name_are_refused(recorder):
    client = Client({})

    async def both():
        with recording(recorder, 0):
            await asyncio.gather(client.write_later(1), client.write_later(2))

    asyncio.run(both())
    with pytest.raises(ValueError, match="a process name of its own"):
        recorder.history("h")


def test_a_cancelled_call_is_pending(recorder):
    client = Client({})

    async def main():
        with recording(recorder, 0):
            task = asyncio.create_task(client.write_later(1))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    (write,) = recorder.history("h").operations
    assert (write.f, write.return_) == ("write", None)


def test_a_generator_is_refused():
    with pytest.raises(TypeError, match="rows is a generator"):

        @operation
        def rows():
            yield 1
