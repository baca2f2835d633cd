"""Seeded bugs of the arena, one file each."""
