"""`python -m ecsel` is the command `ecsel`."""

import sys

from ecsel.cli import main

if __name__ == "__main__":
    sys.exit(main())
