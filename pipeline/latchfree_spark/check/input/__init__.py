"""What a job reads: the files, how they are dealt out to workers, and what is wrong in them."""
