"""The systems, a file for each: protocols of the specification for any number of threads."""
