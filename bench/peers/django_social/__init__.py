"""A plain social site on Django and one PostgreSQL, written as a good Django developer would for production.

Indexes for every query, select_related and prefetch, F() updates inside atomic blocks, persistent connections, no
sessions or middleware that the five operations do not need.
"""
