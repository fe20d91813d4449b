"""Redis toolkit: multiplexed client, client-side cache, leased cache, viewer invalidation, hot counters, rate limits.

Modules are imported one by one (`from tintype.redis.leased_cache import LeasedCache`). Everything in Redis may be lost
at any time: PostgreSQL is the truth, and callers fall back to it.
"""
