"""What a run reports: conditions, states of its pods, notifications."""
