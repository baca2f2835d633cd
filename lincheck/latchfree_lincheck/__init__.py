"""Record concurrent histories and judge whether they are linearizable."""
