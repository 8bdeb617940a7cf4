"""How built-in seeds and suites are made: what every domain's share; the domain adds its stories and its words."""
