"""Seeds and suites of the email domain."""
