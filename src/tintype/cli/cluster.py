"""`tintype cluster check`: finds what would split or stop a site that runs on several machines."""

import asyncio
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from tintype.base.settings import Settings, load_settings
from tintype.cli.findings_table import show_findings
from tintype.stack import Finding, Verdict, check_engines, find_splits, fingerprint

cluster_app = typer.Typer(help="Check a site that runs on several machines.", no_args_is_help=True)
_MAIL_TIMEOUT_S = 10


class ClusterReport(msgspec.Struct, frozen=True):
    """What was found from this machine."""

    fingerprint: str
    findings: list[Finding]


@cluster_app.callback()
def cluster() -> None:
    """Check a site that runs on several machines."""


@cluster_app.command()
def check(
    *,
    home: Annotated[Path | None, typer.Option("--home", help="The data directory.")] = None,
    expect: Annotated[
        str,
        typer.Option("--expect", help="The fingerprint that another machine printed: settings must agree."),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Check settings, clocks, versions, standbys and engines. Exit code 1 when a problem is found.

    Run it on every machine that has web or worker processes, with their settings: before the first start, and after
    each change. What falls back to one machine's disk (a secret, photos, mails) is a problem here, and fine for
    `tintype up` on one machine. The fingerprint at the end must be the same on all of them:

    [bold]tintype cluster check --expect 3f2a9c81d07b[/]
    """
    settings = load_settings(overrides={"home": str(home.absolute())} if home else {}).settings
    code = fingerprint(settings)
    findings = [*find_splits(settings), *asyncio.run(_ask_all(settings)), _compare(code, expect)]
    if as_json:
        print(msgspec.json.encode(ClusterReport(code, findings)).decode())
    else:
        show_findings(findings, Console())
    raise typer.Exit(int(any(each.verdict is Verdict.WRONG for each in findings)))


def _compare(code: str, expected: str) -> Finding:
    if not code:
        return Finding("fingerprint", Verdict.WARNING, "none without secret_key", "Set secret_key first.")
    if expected and expected != code:
        fix = (
            "Compare `tintype config` of both machines: secrets, media, mail and public_url must be the same."
        )
        return Finding("fingerprint", Verdict.WRONG, f"{code}, but {expected} was expected", fix)
    return Finding("fingerprint", Verdict.OK, f"{code}: must be the same on every machine (--expect {code})")


async def _ask_all(settings: Settings) -> list[Finding]:
    checks = [check_engines(settings)]
    if settings.media_store:
        checks.append(_check_stores(settings))
    if settings.mail:
        checks.append(_check_mail(settings))
    return [finding for found in await asyncio.gather(*checks) for finding in found]


async def _check_stores(settings: Settings) -> list[Finding]:
    from tintype.media import probe_stores  # noqa: PLC0415 - 30 MB, which the other checks do not need

    fix = "Look at media_store and media_s3_…: the key needs to write, read and delete below the prefix."
    try:
        problems = await probe_stores(settings)
    except Exception as error:  # noqa: BLE001 - any failure is the finding
        return [Finding("media store", Verdict.WRONG, f"cannot be opened: {error}", fix)]
    return [
        Finding(f"media store ({tier})", Verdict.WRONG, problem, fix)
        if problem
        else Finding(f"media store ({tier})", Verdict.OK, "an object was written, read and deleted")
        for tier, problem in problems.items()
    ]


async def _check_mail(settings: Settings) -> list[Finding]:
    from tintype.accounts import SmtpMailer  # noqa: PLC0415 - likewise

    try:
        async with asyncio.timeout(_MAIL_TIMEOUT_S):
            await SmtpMailer(settings.mail).sign_in()
    except Exception as error:  # noqa: BLE001 - any failure is the finding
        detail = f"does not let us in: {str(error) or type(error).__name__}"
        return [Finding("mail server", Verdict.WRONG, detail, "Correct `mail`, or start the server.")]
    return [Finding("mail server", Verdict.OK, "lets us in")]
