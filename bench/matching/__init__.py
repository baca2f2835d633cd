"""What `topics.py` measures: the matchers, their patterns and topics, matching while subscriptions change, plots."""
