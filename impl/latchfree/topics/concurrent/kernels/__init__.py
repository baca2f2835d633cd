"""The compiled code of the concurrent topic trie; `latchfree.topics.concurrent` states the algorithm."""
