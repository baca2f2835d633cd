"""Every kernel changed in every small way, one change at a time, and what notices."""
