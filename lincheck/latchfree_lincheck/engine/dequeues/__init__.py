"""Queues whose items repeat: enqueues are put in order only as far as dequeues tell."""
