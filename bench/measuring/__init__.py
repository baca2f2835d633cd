"""What benchmarks share: time of threads and of processes, what a map goes through, figures with limits, tables."""
