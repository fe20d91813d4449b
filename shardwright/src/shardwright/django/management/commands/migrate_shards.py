"""`manage.py migrate_shards`: applies the migrations of sharded apps to every shard."""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from shardwright.django.conf import get_maps, sharded_labels
from shardwright.django.rollout import Rollout
from shardwright.django.shard_migrations import shards_behind
from shardwright.errors import ShardwrightError
from shardwright.ids import schema_name
from shardwright.migrations import MigratorOptions, OnProgress, Progress, Target, progress_bar
from shardwright.topology import ShardMap


class Command(BaseCommand):
    """Bring every shard to the last migration; run it again to continue after a failure."""

    help = "Applies the migrations of sharded apps to every shard, servers in parallel; run it again to continue."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the options."""
        defaults = MigratorOptions()
        parser.add_argument("--shard", type=int, action="append", help="Only this shard; may be repeated.")
        parser.add_argument(
            "--per-server", type=int, default=defaults.per_server, help="Shards at a time on each server."
        )
        parser.add_argument("--keep-going", action="store_true", help="Start further shards after a failure.")
        parser.add_argument("--plan", action="store_true", help="List what is missing where; change nothing.")
        parser.add_argument(
            "--check", action="store_true", help="Like --plan, and exit with 1 if something is missing."
        )
        parser.add_argument(
            "--lock-timeout-ms",
            type=int,
            default=defaults.lock_timeout_ms,
            help="How long to wait for a table lock at a time, while other statements queue behind it.",
        )

    def handle(self, **options: Any) -> None:
        """Migrate, or show what is missing."""
        try:
            latest = get_maps().refresh()
            targets = _choose(latest, options["shard"])
            if options["plan"] or options["check"]:
                self._show_missing(targets, fails=options["check"])
            else:
                self._migrate(targets, options)
        except ShardwrightError as error:
            raise CommandError(str(error)) from error

    def _migrate(self, targets: Sequence[Target], options: dict[str, Any]) -> None:
        limits = MigratorOptions(per_server=options["per_server"], lock_timeout_ms=options["lock_timeout_ms"])
        if self.stdout.isatty():
            with progress_bar() as show:
                report = self._roll_out(targets, limits, options, show)
        else:
            report = self._roll_out(targets, limits, options, self._print_progress)
        if report.failed or report.not_started:
            raise CommandError(str(report))
        self.stdout.write(self.style.SUCCESS(f"{len(report.finished)} shards have every migration."))

    def _roll_out(
        self, targets: Sequence[Target], limits: MigratorOptions, options: dict[str, Any], show: OnProgress
    ) -> Any:
        rollout = Rollout(
            limits, keep_going=options["keep_going"], on_progress=show if options["verbosity"] else None
        )
        rollout.run(targets)
        return rollout.report

    def _print_progress(self, progress: Progress) -> None:
        if progress.what == "finished":
            self.stdout.write(f"{progress.done}/{progress.total} {progress.target}")
        else:
            self.stdout.write(f"  {progress.target}: {progress.what} {progress.detail}")

    def _show_missing(self, targets: Sequence[Target], *, fails: bool) -> None:
        behind = shards_behind([target.schema for target in targets])
        for alias, missing in behind.items():
            self.stdout.write(f"{alias}: {', '.join(f'{app}.{name}' for app, name in missing)}")
        if not behind:
            self.stdout.write("Every shard has every migration.")
        elif fails:
            raise CommandError(f"{len(behind)} of {len(targets)} shards lack migrations")


def _choose(latest: ShardMap, numbers: Sequence[int] | None) -> list[Target]:
    """The shards to migrate, in order."""
    if not sharded_labels():
        raise CommandError('no app lives on shards: name some in SHARDWRIGHT["APPS"]')
    if unknown := set(numbers or ()) - latest.owners.keys():
        raise CommandError(f"not in the map: {', '.join(schema_name(number) for number in sorted(unknown))}")
    return [
        Target(server, number)
        for number, server in sorted(latest.owners.items())
        if numbers is None or number in numbers
    ]
