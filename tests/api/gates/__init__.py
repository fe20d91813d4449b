"""Who may pass which route: every route of the API against every kind of caller."""
