"""How `make test` runs the tests, and plays what failed once more."""
