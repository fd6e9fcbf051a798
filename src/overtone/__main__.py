"""`python -m overtone`: the command line."""

from overtone.cli import main

main()
