"""A frontier for each key of a map, for each choice of when the whole map was read or cleared."""
