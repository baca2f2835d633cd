"""What a job writes beside the verdicts: what it is, and what people look at."""
