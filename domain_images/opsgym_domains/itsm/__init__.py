"""IT service management: incidents, problems, changes, configuration items and SLAs."""
