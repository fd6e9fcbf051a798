"""Benchmarks against peers. One command runs them all: `make bench`."""
