"""Overtone inside other libraries: one package or file a host, imported only by those who use that host."""
