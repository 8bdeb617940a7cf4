"""Prometheus metrics, declared once for operator and local runs."""
