"""The store gateway: holds the stores' keys, and reads and writes for a pod what its trials need, and nothing else."""
