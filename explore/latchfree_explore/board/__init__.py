"""The board: the words that hold all state of an exploration, and what reads and writes them.

Above the board come the strategies, and above those the machine; nothing here imports either.
"""
