"""Code and specification in step: every edge of a model replayed, every run checked to be a behaviour."""
