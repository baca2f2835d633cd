"""Makes the helpers of this folder importable: processes that are interrupted."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "helpers"))
