"""What happens during a task without the agent: scenario events, and the notices by which an agent hears of them."""
