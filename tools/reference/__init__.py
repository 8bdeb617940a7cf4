"""Writes docs/reference from declarations: kinds, commands, reasons, records, HTTP APIs, Python."""
