"""Work across domains: the general rules of tasks on several gym servers. The domains keep their own."""
