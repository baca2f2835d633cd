"""The compiled half of the rate limiter."""
