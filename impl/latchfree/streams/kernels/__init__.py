"""The compiled half of the streams: the ring, and the entry points through which Python calls its operations."""
