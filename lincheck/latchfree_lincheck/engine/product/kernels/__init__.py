"""The compiled code of the search key by key."""
