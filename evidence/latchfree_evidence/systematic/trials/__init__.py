"""Random operations beside plain models, one at a time."""
