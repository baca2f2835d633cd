"""The command: ``python bench/chosen_keys``."""

import sys

from costs import main

sys.exit(main())
