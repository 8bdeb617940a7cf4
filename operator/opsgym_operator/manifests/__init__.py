"""Builders of Kubernetes objects, one module for each kind. Pure."""
