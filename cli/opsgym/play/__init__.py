"""A person in the place of the model: requests and tool results in the terminal, calls and an answer from it."""
