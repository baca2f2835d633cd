"""Seeded bugs of the stress runs themselves: of the recorder of histories."""
