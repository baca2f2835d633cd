"""Seeded bugs of the sketches, one file each."""
