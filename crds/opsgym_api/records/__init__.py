"""What runner and operator write to the store."""
