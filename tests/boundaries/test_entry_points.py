"""Compiled code takes addresses and lengths on trust: each place that calls it is listed here, with who checks them."""

from boundary_sites import sites

#: Module -> what plain Python calls there, and where the lengths come from.
REVIEWED = {
    # words and offsets that the arena itself has handed out; no arrays
    "latchfree.arena.arena": {"ARENA.adopt", "ARENA.collect", "ARENA.gather", "ARENA.scatter"},
    "latchfree.arena.directory": {
        "ARENA.change_entry",
        "ARENA.fill_entry",
        "ARENA.read_entries",
        "ARENA.release_entry",
        "ARENA.take_entry",
    },
    "latchfree.arena.lending": {"ARENA.claim", "ARENA.release"},
    "latchfree.arena.sealing": {"ARENA.read_state", "ARENA.swap_state"},
    "latchfree.ctrie.border": {"TRIE.drop_due", "TRIE.reclaim"},
    # with the slot of the arena that it watches
    "latchfree.ctrie.references": {"ARENA.collect"},
    "latchfree.ctrie.holds": {"TRIE.destroy"},
    "latchfree.ctrie.recovery": {"TRIE.adopt", "TRIE.destroy", "TRIE.discard", "TRIE.drop", "TRIE.sweep"},
    "latchfree.streams.ownership": {"RING.adopt", "RING.create", "RING.drop", "RING.free", "RING.mend", "RING.sweep"},
    # wrappers that check kinds, item sizes and lengths of tuples, and bodies of builtins, see `latchfree.ctrie.binding`
    "latchfree.border.calls": {"builtin(self.definition(name))", "define(name)"},
    # arrays made beside the call, of a length that the kernel is told or that both take from one place
    "latchfree.arena.census": {"ARENA.count"},
    "latchfree.topics.concurrent.store": {"TOPICS.create", "TOPICS.near", "TOPICS.scan"},
    # `Store.key` and `Store.value` have checked kind, length and range; the context is `new_context`'s
    "latchfree.ctrie.binding": {"border.builtin(TRIE.definition(name))"},
    "latchfree.ctrie.store": {
        "TRIE.create",
        "TRIE.destroy",
        "TRIE.fork",
        "TRIE.scan_count",
        "TRIE.scan_next",
        "TRIE.scan_start",
        "TRIE.unpark",
        "builtin('find' + self.kinds)",
        "builtin(name)",
        "getattr(TRIE, name)",
    },
    # methods and finalizers that take no argument; objects of these types are made by `Store`, or by compiled code
    "latchfree.ctrie.bases": {
        "define(name)",
        "new_type(prefix + 'HoldBase')",
        "new_type(prefix + 'OwnerBase')",
        "new_type(prefix + 'SnapshotBase')",
        "new_type(prefix + 'StoreBase')",
    },
    # slots and methods that look at the classes of what they are given, and count the arguments of a call
    "latchfree.ctrie.slots": {"define(name)", "new_type('latchfree.ctrie.slots.Slots')"},
    # `columns.to_column` has checked kinds, lengths and nulls; `put_many` compares the lengths of both columns
    "latchfree.ctrie.many": {
        "TRIE.get_blobs_b",
        "TRIE.get_blobs_w",
        "TRIE.get_words_b",
        "TRIE.get_words_w",
        "TRIE.remove_all_b",
        "TRIE.remove_all_w",
        "getattr(TRIE, f'put_all{store.kinds}')",
    },
    # `_words` and `get_many` make the arrays; single values are checked by `try_put`
    "latchfree.streams.buffer": {"RING.get", "RING.get_many", "RING.put", "RING.put_many"},
    # values are checked by `put` and `aput`
    "latchfree.streams.blocking": {"RING.arm", "RING.get", "RING.note", "RING.put", "RING.shut"},
    "latchfree.streams.handle": {"RING.count"},
    # a slot that `slot_of` has found, of a ring that the directory names or that this opening has made
    "latchfree.streams.named": {"ARENA.change_entry", "RING.adopt", "RING.sweep"},
    # an array of the call's own, whose offsets came from compiled calls; one place of it, with the length of the data
    "latchfree.streams.blocks": {"RING.free_blocks", "RING.take_block"},
    "latchfree.streams.messages": {"RING.get_block", "RING.get_many", "RING.put_block", "RING.put_blocks"},
    # words of a record that `Place` has written, in memory of the size that the shape needs
    "latchfree.sketches.common.place": {
        "SKETCH.create",
        "SKETCH.end",
        "SKETCH.free",
        "SKETCH.is_quiet",
        "SKETCH.round_up",
    },
    # arrays as long as the shape says; `_merge` has compared the shapes
    "latchfree.sketches.sketch": {"SKETCH.added", "SKETCH.copy", "getattr(SKETCH, call)"},
    # `columns.to_column` has checked kinds, lengths and nulls; one item is bytes that a codec has made
    "latchfree.sketches.common.items": {"SKETCH.hash_blob", "SKETCH.hash_blobs", "SKETCH.hash_int", "SKETCH.hash_ints"},
    # hashes of `items.chunks`, and answers cut from an array as long as the column; `counts_of` has compared lengths
    "latchfree.sketches.bloom": {
        "SKETCH.bloom_add",
        "SKETCH.bloom_add_many",
        "SKETCH.bloom_contains",
        "SKETCH.bloom_contains_many",
        "SKETCH.bit_add_many",
        "SKETCH.bit_contains_many",
    },
    "latchfree.sketches.count_min": {
        "SKETCH.count_add",
        "SKETCH.count_add_counts",
        "SKETCH.count_add_many",
        "SKETCH.count_add_slice",
        "SKETCH.count_estimate",
        "SKETCH.count_estimate_many",
        "SKETCH.counter_add_counts",
        "SKETCH.counter_estimate_many",
    },
    "latchfree.sketches.hyperloglog": {
        "SKETCH.coupon_add_many",
        "SKETCH.hll_add",
        "SKETCH.hll_add_many",
        "SKETCH.hll_count_ranks",
    },
    # items of a column that was checked, and room for as many words of each as the shape, which was checked, says
    "latchfree.sketches.common.hashing": {
        "getattr(SKETCH, f'{self.calls}_blobs')",
        "getattr(SKETCH, f'{self.calls}_ints')",
    },
    # one number, and room for one
    "latchfree.sketches.foreign.datasketches_counts": {"SKETCH.row_ints"},
    "latchfree.sketches.filter": {
        "getattr(SKETCH, f'{self.CALLS}_add')",
        "getattr(SKETCH, f'{self.CALLS}_add_many')",
        "getattr(SKETCH, f'{self.CALLS}_contains')",
        "getattr(SKETCH, f'{self.CALLS}_contains_many')",
    },
    "latchfree.sketches.counting": {
        "SKETCH.counting_count",
        "SKETCH.counting_remove",
        "SKETCH.counting_remove_many",
    },
    # `shapes.check_head` has checked the layers of stored filters
    "latchfree.sketches.scalable": {"SKETCH.scalable_last"},
    "latchfree.sketches.stable": {
        "SKETCH.stable_add",
        "SKETCH.stable_add_many",
        "SKETCH.stable_contains",
        "SKETCH.stable_contains_many",
    },
    "latchfree.sketches.minhash": {"SKETCH.minhash_add", "SKETCH.minhash_add_many"},
    # a seed and a number of a coin: words of ours
    "latchfree.sketches.datasketches": {"SKETCH.hash_int"},
    # words of `numbers.numbers_in`; levels that a lane had, or that `levels.check` has checked, cut to the room of one
    "latchfree.sketches.kll": {
        "SKETCH.kll_absorb",
        "SKETCH.kll_add",
        "SKETCH.kll_add_many",
        "SKETCH.kll_count",
        "SKETCH.kll_read",
    },
    # `_write` makes the words of an item, of whose length the kernel reads no more than there are
    "latchfree.sketches.top": {
        "SKETCH.count_estimate",
        "SKETCH.top_add",
        "SKETCH.top_add_many",
        "SKETCH.top_add_slice",
        "SKETCH.top_put",
        "SKETCH.top_put_blobs",
        "SKETCH.top_put_ints",
        "SKETCH.top_read",
    },
    "latchfree.sketches.inverse": {
        "SKETCH.inverse_add",
        "SKETCH.inverse_add_many",
        "SKETCH.inverse_contains",
        "SKETCH.inverse_contains_many",
    },
    # tokens are checked by `_checked`; the other words are ours
    "latchfree.limiting.limiter": {"BUCKET.acquire", "BUCKET.read", "BUCKET.refuse", "BUCKET.set_back", "SKETCH.added"},
    # `text_column` and `number_column` have checked kind, length, range, nulls; `Scratch.make_room` follows the texts
    "latchfree.topics.concurrent.bulk": {
        "TOPICS.add_rows",
        "TOPICS.drop_rows",
        "TOPICS.match_rows",
    },
    # the dialect has checked the text; `Scratch.make_room` follows its length
    "latchfree.topics.concurrent.reader": {
        "TOPICS.match_rows",
        "TOPICS.match_text",
    },
    "latchfree.topics.concurrent.trie": {"getattr(TOPICS, name)"},
    # `arrays_of` compares the numbers of patterns and subscribers; a saved index has a checksum
    "latchfree.topics.mask.build": {"MASK.fill_table", "MASK.grow", "MASK.scan_patterns", "MASK.write_records"},
    "latchfree.topics.mask.index": {"MASK.search"},
    # `Column` and `Columns` have checked codes and lengths
    "latchfree_lincheck.history.order": {
        "HISTORY.count_events",
        "HISTORY.find_overlaps",
        "HISTORY.first_overlap",
        "HISTORY.insert_all",
        "HISTORY.span",
    },
    "latchfree_lincheck.engine.encoding.columns": {"ENGINE.fill", "ENGINE.number_codes", "ENGINE.number_parts"},
    "latchfree_lincheck.engine.encoding.parts": {"ENGINE.group"},
    # rows of the encoding, and tables that the searches make and let grow
    "latchfree_lincheck.engine.decide_many": {"ENGINE.fold_parts"},
    "latchfree_lincheck.engine.dequeues.search": {
        "ENGINE.advance_dequeues",
        "ENGINE.rehash_dequeues",
        "ENGINE.write_dequeues",
    },
    "latchfree_lincheck.engine.frontier.search": {
        "ENGINE.advance",
        "ENGINE.last_uses",
        "ENGINE.longest",
        "ENGINE.rehash",
        "ENGINE.start",
        "ENGINE.write_path",
    },
    "latchfree_lincheck.engine.frontier.sweep": {"ENGINE.advance_parts"},
    "latchfree_lincheck.engine.monitor": {"ENGINE.count_values", "getattr(ENGINE, self.call)"},
    "latchfree_lincheck.engine.product.search": {"ENGINE.advance_keys", "ENGINE.number"},
    "latchfree_lincheck.engine.store": {
        "ENGINE.build",
        "ENGINE.extend",
        "ENGINE.extend_all",
        "ENGINE.nest",
        "ENGINE.fetch",
        "ENGINE.rehash_nodes",
    },
    "latchfree_lincheck.engine.wgl.compiled": {"ENGINE.rehash_memo", "ENGINE.search"},
    # a number of words that the wrapper of the step knows
    "latchfree_lincheck.engine.own_step": {"callback(_WORD(_POINTER, _POINTER, _POINTER))"},
}


def test_each_call_of_compiled_code_has_been_reviewed():
    """Somebody has looked where a new call gets its lengths from, and has written that down above."""
    assert sites("latchfree", "latchfree_lincheck") == REVIEWED
