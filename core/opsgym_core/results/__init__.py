"""Results of runs: loading, compaction, scores, statistics, comparison."""
