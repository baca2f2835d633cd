"""Patterns and topics to try, valid or not, of few words so that they meet; and all engines."""

from hypothesis import strategies as st

from latchfree.topics import (
    DIALECTS,
    ConcurrentTrie,
    InvertedBitmap,
    LockedTrie,
    MaskIndex,
    NaiveMatcher,
    OptimizedInvertedBitmap,
)

PLAIN = (ConcurrentTrie, NaiveMatcher, InvertedBitmap, OptimizedInvertedBitmap, LockedTrie)
DIALECT_NAMES = tuple(DIALECTS)


def texts(dialect, *, wild):
    """Texts of up to six words of a dialect, `wild` ones with many wildcards."""
    words = ["a", "b", "", "$s", "long-word-of-17b!", "é", f"x{dialect.one}", dialect.one, dialect.many]
    words += [dialect.one, dialect.many] * (3 if wild else 0)
    return st.lists(st.sampled_from(words), min_size=0, max_size=6).map(dialect.separator.join)


def accepts(check, text):
    """Whether a check raises no ValueError."""
    try:
        check(text)
    except ValueError:
        return False
    return True


def frozen(subscriptions, dialect):
    """Mask indices of subscriptions: as usual, with few masks so that the trie takes the rest, with none."""
    patterns = [each.pattern for each in subscriptions]
    subscribers = [each.subscriber for each in subscriptions]
    return [MaskIndex.build(patterns, subscribers, dialect, most_groups=most) for most in (48, 2, 0)]
