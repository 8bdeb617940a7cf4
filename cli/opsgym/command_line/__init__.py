"""Declarations of the command line: commands, options and help texts.

Invariant: nothing but click is imported until a command runs; `opsgym.commands` holds what the commands do.
"""
