"""The symbols of libraries of compiled functions."""

#: What a library may ask of the process that loads it, beside the interpreter's own interface.
NEEDED = {"abort", "free", "madvise", "malloc", "memcpy", "memmove", "memset", "posix_fallocate", "pread", "write"}
