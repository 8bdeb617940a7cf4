"""Work across domains: a company that has a seed in each of them."""
