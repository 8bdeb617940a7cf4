"""Web page for task authors: browse a domain's tables, tools and policy, and call tools."""
