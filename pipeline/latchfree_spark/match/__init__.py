"""Match tables and streams of messages with subscriptions on Spark."""

from latchfree_spark.callable import make_callable
from latchfree_spark.match.batch import Summary, match_messages, refuse_existing
from latchfree_spark.match.errors import BadMessages, BadSubscriptions, NoMessages, OutputExists
from latchfree_spark.match.messages import Messages, find
from latchfree_spark.match.ship import Shipped, ship
from latchfree_spark.match.stream import match_stream
from latchfree_spark.match.stream_batches import Progress
from latchfree_spark.match.table import SubscriptionTable
from latchfree_spark.match.worker import with_subscribers

__all__ = [
    "BadMessages",
    "BadSubscriptions",
    "Messages",
    "NoMessages",
    "OutputExists",
    "Progress",
    "Shipped",
    "SubscriptionTable",
    "Summary",
    "find",
    "match_messages",
    "match_stream",
    "refuse_existing",
    "ship",
    "with_subscribers",
]

make_callable(__name__)
