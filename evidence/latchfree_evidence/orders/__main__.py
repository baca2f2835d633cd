"""Write the tables of the record into a page: ``python -m latchfree_evidence.orders docs/orders.md``."""

import re
import sys
from pathlib import Path

from latchfree_evidence.orders.page import TABLES
from latchfree_evidence.orders.record import read

rows = read()
for name in sys.argv[1:]:
    file = Path(name)
    text = file.read_text(encoding="utf-8")
    for table, make in TABLES.items():
        pattern = rf"(<!-- orders {table}: start -->\n).*?(<!-- orders {table}: end -->)"
        made = make(rows).replace("\\", r"\\")
        text = re.sub(pattern, rf"\g<1>{made}\n\g<2>", text, flags=re.DOTALL)
    file.write_text(text, encoding="utf-8")
