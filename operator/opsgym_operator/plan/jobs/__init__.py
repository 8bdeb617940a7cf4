"""Which Jobs a run has: slots, chunks, queues, and what ends."""
