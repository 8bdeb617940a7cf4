"""Model calls: litellm, endpoints, limits, retries and prices."""
