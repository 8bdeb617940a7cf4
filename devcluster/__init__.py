"""A single-node Kubernetes from binaries, for development and tests on a Linux machine without Docker."""
