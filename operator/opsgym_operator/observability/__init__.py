"""Health, metrics endpoint and webhook notifications of the operator."""
