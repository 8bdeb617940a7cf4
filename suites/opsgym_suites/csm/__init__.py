"""Seeds and suites of the domain `csm`."""
