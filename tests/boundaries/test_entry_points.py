"""Compiled code takes addresses and lengths on trust: each place that calls it is listed here, with who checks them."""

from boundary_sites import sites

#: Module -> what plain Python calls there, and where the lengths come from.
REVIEWED = {
    # words and offsets that the arena itself has handed out; no arrays
    "latchfree.arena.arena": {"collect"},
    "latchfree.arena.directory": {"entry_point(kernel)"},
    "latchfree.arena.lending": {"entry_point(adopt)", "entry_point(claim)", "entry_point(release)"},
    "latchfree.arena.sealing": {"entry_point(read)", "entry_point(swap)"},
    "latchfree.ctrie.holds": {"call('destroy')"},
    "latchfree.ctrie.recovery": {
        "call('adopt')",
        "call('destroy')",
        "call('discard')",
        "call('drop')",
        "call('sweep')",
    },
    "latchfree.streams.ownership": {"adopt", "calls()", "create", "sweep"},
    "latchfree.topics.concurrent.entry_points": {"entry_point(function)"},
    # arrays made beside the call, of a length that the kernel is told or that both take from one place
    "latchfree.arena.census": {"count"},
    "latchfree.arena.merging": {"gather", "scatter"},
    "latchfree.topics.concurrent.store": {"call('create')", "call('scan')"},
    "latchfree.topics.mask.groups": {"salt_of"},
    # `Store.key` and `Store.value` have checked kind, length and range; the context is `new_context`'s
    "latchfree.ctrie.binding": {"callback(word(word, word))", "callback(word(word, word, types.int64))"},
    "latchfree.ctrie.store": {
        "builtin('find' + self._kinds)",
        "builtin(name)",
        "call('create')",
        "call('destroy')",
        "call('fork')",
        "call(name)",
        "loops.scan_count",
        "loops.scan_next",
        "loops.scan_start",
    },
    # `columns.to_column` has checked kinds, lengths and nulls; `put_many` compares the lengths of both columns
    "latchfree.ctrie.many": {"loops.get_blobs", "loops.get_words", "loops.put_all", "loops.remove_all"},
    # `_words` and `get_many` make the arrays; single values are checked by `try_put`
    "latchfree.streams.buffer": {"calls()"},
    # `text_column` and `number_column` have checked kind, length, range, nulls; `Scratch.make_room` follows the texts
    "latchfree.topics.concurrent.bulk": {
        "call('add_rows')",
        "call('drop_rows')",
        "call('match_rows')",
        "call('pin')",
        "call('unpin')",
    },
    # the dialect has checked the text; `Scratch.make_room` follows its length
    "latchfree.topics.concurrent.reader": {
        "call('match_rows')",
        "call('match_text')",
        "call('pin')",
        "call('unpin')",
    },
    "latchfree.topics.concurrent.trie": {"call(name)"},
    # `arrays_of` compares the numbers of patterns and subscribers; a saved index has a checksum
    "latchfree.topics.mask.build": {"grow", "records.write_records", "shapes.scan_patterns", "table.fill_table"},
    "latchfree.topics.mask.index": {"search"},
    # `Column` and `Columns` have checked codes and lengths
    "latchfree_lincheck.history.order": {"count_events", "find_overlaps", "first_overlap", "insert_all", "span"},
    "latchfree_lincheck.engine.encoding.columns": {"fill", "number_codes", "number_parts"},
    "latchfree_lincheck.engine.encoding.parts": {"group"},
    # rows of the encoding, and tables that the searches make and let grow
    "latchfree_lincheck.engine.decide_many": {"fold_parts"},
    "latchfree_lincheck.engine.dequeues.search": {"k.advance", "k.rehash", "k.write_path"},
    "latchfree_lincheck.engine.frontier.search": {
        "advance",
        "k.longest",
        "k.rehash",
        "k.start",
        "k.write_path",
        "last_uses",
    },
    "latchfree_lincheck.engine.frontier.sweep": {"advance_parts"},
    "latchfree_lincheck.engine.monitors": {"count_values"},
    "latchfree_lincheck.engine.product.search": {"k.advance", "number"},
    "latchfree_lincheck.engine.store": {"build", "extend", "extend_all", "fetch", "rehash_nodes"},
    "latchfree_lincheck.engine.wgl.compiled": {"k.rehash_memo", "k.search"},
    # a number of words that the wrapper of the step knows
    "latchfree_lincheck.engine.own_step": {"callback(_WORD(_POINTER, _POINTER, _POINTER))"},
}


def test_each_call_of_compiled_code_has_been_reviewed():
    """Somebody has looked where a new call gets its lengths from, and has written that down above."""
    assert sites("latchfree", "latchfree_lincheck") == REVIEWED
