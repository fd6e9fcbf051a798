"""The contest: what optimizers of many kinds reach on many problems, one trial at a time and with 100 in flight."""
