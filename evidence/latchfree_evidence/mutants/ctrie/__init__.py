"""Seeded bugs of the Ctrie, one file each."""
