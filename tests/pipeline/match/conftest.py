"""Makes the helpers of this folder importable: random subscriptions and messages."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "helpers"))
