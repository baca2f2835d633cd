"""Calls of several steps, where an argument taken by the first reaches compiled code in the last."""

from __future__ import annotations

from typing import Any

import numpy as np

from latchfree import ConcurrentTrie, Ctrie, MaskIndex
from latchfree_explore import Target, explore
from latchfree_explore.examples.counter import COUNTER
from latchfree_lincheck import (
    Column,
    Columns,
    History,
    Operation,
    check,
    check_many,
    judge,
    judge_parts,
    shrink,
    without_excused,
)


def check_operation(process: Any, f: Any, arguments: Any, result: Any, invoke: Any, return_: Any, model: Any) -> Any:
    """Judge a history with one such operation by each judge."""
    operation = Operation(process, f, arguments, result, invoke, return_)
    history = History("h", [Operation(0, "put", (1, 2), None, 1, 4), operation])
    answers = [check(history, model, timeout=5), judge(history, model, criterion="sequential", timeout=5)]
    answers += [judge_parts(history, model, timeout=5), without_excused(history), len(history.events())]
    if answers[0].verdict == "violation":
        answers.append(shrink(history, model, timeout=5))
    return answers


def check_columns(
    process: Any, f: Any, first: Any, second: Any, result: Any, invoke: Any, return_: Any, history: Any
) -> Any:
    """Judge columns, as one history and as many."""
    columns = Columns.of(process, f, (first, second), result, invoke, return_, None)
    many = check_many(columns, history, timeout=5)
    whole = History.of_columns(
        "h", process=process, f=f, arguments=(first, second), result=result, invoke=invoke, return_=return_
    )
    return many.table(), check(whole, timeout=5), whole.operations


def check_codes(codes: Any, table: Any, times: Any) -> Any:
    """Judge columns whose codes somebody has made."""
    column = Column(codes, table)
    length = len(column.codes)
    invoke = np.arange(length) * 2 if times is None else times
    columns = Columns(
        column, column, (column, column), column, invoke, np.asarray(invoke) + 1, np.ones(length, np.bool_), column
    )
    return check_many(columns, column, timeout=5), check_many(columns, np.zeros(length, np.int64), timeout=5)


def build_index(patterns: Any, subscribers: Any, dialect: Any, topics: Any) -> Any:
    """Match topics with an index, as built, saved and pickled."""
    index: MaskIndex[Any] = MaskIndex.build(patterns, subscribers, dialect)
    return index.match_many(topics), list(index.subscriptions()), index.pairs()


def topic_columns(patterns: Any, subscribers: Any, topics: Any) -> Any:
    """Subscribe columns, match, and take the same away."""
    trie: ConcurrentTrie[Any] = ConcurrentTrie()
    numbers = trie.subscribe_column(patterns, subscribers)
    found = trie.match_many(topics)
    trie.unsubscribe_column(patterns, numbers)
    assert len(trie) == 0
    return found


def map_columns(keys: Any, values: Any) -> Any:
    """Write, read and remove many, in maps of each kind."""
    answers = []
    for kind in (int, str, bytes):
        trie = Ctrie(keys=kind, values=kind)
        try:
            trie.put_many(keys, values)
        except (TypeError, ValueError, MemoryError) as error:
            answers.append(error)
            assert len(trie) == 0
            continue
        answers += [trie.get_many(keys), trie.remove_many(keys), len(trie)]
    return answers


def explore_memory(size: Any, schedules: Any, seed: Any) -> Any:
    """Explore in memory of such a size."""
    target = Target("t", "map", dict(COUNTER.operations), COUNTER.setup, size)
    return explore(target, scenario="increment | increment", schedules=schedules, seed=seed, minimise=False)
