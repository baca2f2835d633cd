"""Make the library of this package, or of another: every call of its tables, compiled and linked."""
