"""The paper's experiments, run again: `make experiments`, or `python -m experiments NAME`. See docs/paper.md."""
