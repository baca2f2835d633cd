"""Play pages of plain Python: the reader decides which thread takes the next access."""
