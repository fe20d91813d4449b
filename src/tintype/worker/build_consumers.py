"""The durables that a worker consumes: one per event, one for retries, one for jobs handled one at a time."""

from collections.abc import Sequence

from nats.aio.client import Client

from tintype.base.jobs import Handler
from tintype.base.nats import NatsNames
from tintype.worker.consumer import Consumer
from tintype.worker.deliveries import Source
from tintype.worker.durables import durable_name
from tintype.worker.handler_runner import HandlerRunner
from tintype.worker.retries import Retries


def durables_of(handlers: Sequence[Handler]) -> dict[str, list[str]]:
    """The names of the durables that serve these handlers' events, and whom each serves."""
    by_event: dict[str, list[Handler]] = {}
    for handler in handlers:
        by_event.setdefault(handler.event.name, []).append(handler)
    return {durable_name(event, own): [each.name for each in own] for event, own in by_event.items()}


def build_consumers(
    runners: Sequence[HandlerRunner], nats: Client, names: NatsNames, retries: Retries
) -> list[Consumer]:
    """The consumers of these handlers."""

    def build(purpose: str, source: Source, subjects: dict[str, list[HandlerRunner]]) -> Consumer:
        handlers = [runner.handler for own in subjects.values() for runner in own]
        return Consumer(
            durable_name(purpose, handlers), source, subjects, nats=nats, names=names, retries=retries
        )

    by_event: dict[str, list[HandlerRunner]] = {}
    for runner in runners:
        by_event.setdefault(runner.handler.event.name, []).append(runner)
    consumers = [build(event, Source.EVENTS, {names.event(event): own}) for event, own in by_event.items()]
    if runners:
        each = {names.retry(runner.handler.name): [runner] for runner in runners}
        consumers.append(build("retries", Source.RETRIES, each))
    alone = {names.retry_alone(own.handler.name): [own] for own in runners if own.handler.run_many}
    if alone:
        consumers.append(build("alone", Source.ALONE, alone))
    return consumers
