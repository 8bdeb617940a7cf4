"""Tables and numbers as the command prints them."""
