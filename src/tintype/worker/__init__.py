"""The worker process: relays outboxes to JetStream, runs handlers, keeps the clock.

It owns the streams, the durable consumers and the dead letters. Any number of workers may run; any of them may be
killed at any moment. What they share is coordinated by PostgreSQL row locks and JetStream acknowledgements.
"""

from tintype.worker.dead import DeadLetter, DeadLetters
from tintype.worker.process import Worker

__all__ = ["DeadLetter", "DeadLetters", "Worker"]
