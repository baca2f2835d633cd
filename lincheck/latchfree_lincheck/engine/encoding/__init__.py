"""Turn histories into problems for the compiled engines: rows of integers, split into independent parts."""
