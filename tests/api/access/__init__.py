"""Access rules: every route of the API against every kind of caller."""
