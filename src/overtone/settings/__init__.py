"""What a TOML file says: parsed and checked once, into frozen values, with all mistakes at once."""
