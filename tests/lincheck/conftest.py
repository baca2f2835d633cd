"""Makes the helpers of this folder importable: the brute-force oracle and the random histories."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "helpers"))
