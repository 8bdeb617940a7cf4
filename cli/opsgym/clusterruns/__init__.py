"""What the objects of a run in a cluster say, and what a person does about it; pure."""
