"""The compiled half of the arena: nodes are allocated, retired and freed here, without a lock."""
