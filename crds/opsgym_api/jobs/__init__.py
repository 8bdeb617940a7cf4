"""The contract between the operator and the pods of a Job: what they are given, how they report, how they exit."""
