"""Makes the helpers of this folder importable: the histories to draw, and the browser that draws them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "helpers"))
