"""Wing and Gong's depth-first search with Lowe's memo: compiled (`compiled`) and in plain Python (`plain`)."""
