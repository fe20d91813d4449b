"""The kernel that every room builds on: settings, errors, ids, events, the outbox, jobs and logs.

Modules are imported one by one (`from tintype.base.outbox import Outbox`). Owns the `outbox` with its position on
each server, and `leases` and `schedules` on the shard of the key "schedules".
"""
