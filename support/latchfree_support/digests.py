"""The digest BLAKE2b, without OpenSSL, which takes milliseconds to load."""

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter that leaves all of this to OpenSSL
    from hashlib import blake2b

__all__ = ["blake2b"]
