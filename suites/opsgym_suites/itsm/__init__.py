"""Seeds and suites of the domain `itsm`."""
