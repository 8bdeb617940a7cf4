"""The experiments of the paper, run one after the other, and their tables and figures as pages."""
