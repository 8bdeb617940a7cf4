"""Customer service management: accounts, installed products, contracts and cases."""
