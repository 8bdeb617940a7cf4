"""Selection and order of tasks, cells and trials, for local and cluster runs alike."""
