"""The command line: a thin skin; each verb has its file, and the library does the work."""

from overtone.cli.app import main

__all__ = ["main"]
