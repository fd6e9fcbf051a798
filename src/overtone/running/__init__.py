"""The outside world: workers, ledgers, commands, and the loop that runs an optimizer on them."""
