"""What should be done for each EvalRun and EvalSchedule, as a pure function of the observation and the time."""
