"""Match tables and streams of messages with subscriptions on Spark."""

from latchfree_spark.callable import make_callable
from latchfree_spark.errors import BadOutput, OutputExists
from latchfree_spark.match.batch import Summary, match_messages
from latchfree_spark.match.errors import BadMessages, BadSubscriptions, NoMessages
from latchfree_spark.match.messages import Messages, find
from latchfree_spark.match.remote import find_at
from latchfree_spark.match.ship import Shipped, ship
from latchfree_spark.match.stream import match_stream
from latchfree_spark.match.stream_batches import Progress
from latchfree_spark.match.table import SubscriptionTable
from latchfree_spark.match.worker import with_subscribers
from latchfree_spark.outputs import refuse_existing

__all__ = [
    "BadMessages",
    "BadOutput",
    "BadSubscriptions",
    "Messages",
    "NoMessages",
    "OutputExists",
    "Progress",
    "Shipped",
    "SubscriptionTable",
    "Summary",
    "find",
    "find_at",
    "match_messages",
    "match_stream",
    "refuse_existing",
    "ship",
    "with_subscribers",
]

make_callable(__name__)
