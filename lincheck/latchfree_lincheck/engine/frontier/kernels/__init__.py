"""The compiled code of just-in-time linearization."""
