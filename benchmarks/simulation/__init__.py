"""A discrete-event simulation of 1 to 10,000 workers."""
