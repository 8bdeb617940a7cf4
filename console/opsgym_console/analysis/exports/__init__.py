"""Exports of runs to other tools' formats, a module for each; all read the same `ScoredTrial`s."""
