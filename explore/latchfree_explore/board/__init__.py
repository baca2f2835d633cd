"""The board: the words that hold the state of an exploration, and the functions that read and write them.

The strategies stand on the board, and the machine stands on both; nothing here imports either.
"""
