"""Logic that operator, runner, console and command share. Imports contracts only."""
