"""Task rows, their events, and suites of them."""
