"""The worker process: relays outboxes to JetStream, runs event handlers and schedules.

It owns the streams, the durable consumers and the dead letters. Any number of workers may run, and any of them may be
killed at any moment: PostgreSQL row locks and JetStream acknowledgements coordinate them.
"""

from tintype.worker.build_consumers import durables_of
from tintype.worker.dead_letters import DeadLetter, DeadLetters
from tintype.worker.outbox_backlog import count_waiting_events
from tintype.worker.process import Worker
from tintype.worker.server_connection import connect_to_server

__all__ = ["DeadLetter", "DeadLetters", "Worker", "connect_to_server", "count_waiting_events", "durables_of"]
