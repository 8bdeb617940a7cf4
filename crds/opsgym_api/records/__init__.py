"""What runner and operator write to the store and pass to each other."""
