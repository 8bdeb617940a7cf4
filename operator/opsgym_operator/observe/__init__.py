"""Observations of the cluster, and their parsing from Kubernetes objects. Pure."""
