"""`python -m benchmarks.search [--help]`: run what is missing, then the tables and plots."""

import sys

from benchmarks.search.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
