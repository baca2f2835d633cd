"""What is known of values and calls before they are touched: asked by hooks, the library under control, and asyncio.

There is one file for each fact. Nothing here knows a hook.
"""
