"""Which memory orders the code needs: each ordered access is weakened, and the explorer looks for a wrong run.

`accesses` lists the ordered accesses of the package, `programs` what is explored, `search` weakens one access at a
time, `record` keeps what was found, so that each finding can be run again.
"""
