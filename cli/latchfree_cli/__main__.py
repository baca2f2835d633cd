"""The same as the console script: ``python -m latchfree_cli``."""

from latchfree_cli.main import main

if __name__ == "__main__":
    main()
