"""A social site on Django and one PostgreSQL, written as a good Django developer would for production.

Indexes for every query, select_related and prefetch, F() updates inside atomic blocks, persistent connections, no
sessions or middleware that the five operations do not need. Two peers in one: plain, where nothing follows from a
write; and with a broker (`PEER_REDIS`), where a Celery worker does what ours does after a write: notifications, grouped
and counted; the follower mirror; search entries; timelines.
"""
