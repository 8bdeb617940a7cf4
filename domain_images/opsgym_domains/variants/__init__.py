"""Variants of built-in suites: the same tasks in a world with other names, numbers, ids and dates.

Invariant: a variant is a pure function of seed, task row and variant number, so a gym server and a preflight pod, which
never talk to each other, make the same one. What a text of the seed becomes, the same text of a task becomes.
"""
