"""Seeded bugs of the ring buffer, one file each."""
