"""Makes the helpers of this folder importable: random graphs, and dumps written as TLC writes them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "helpers"))
