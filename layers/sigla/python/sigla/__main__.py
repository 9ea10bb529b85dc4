"""`python -m sigla`: the command where nothing has put it on the path, as in a container."""

import sys

from sigla.cli import main

if __name__ == "__main__":
    sys.exit(main())
