"""Exports of personal data, and the deletion of accounts."""

from datetime import datetime
from typing import Literal

import msgspec

from tintype.personal_data import Export


class AccountDeletionView(msgspec.Struct, frozen=True):
    """When the account and its data will be erased; signing in before then cancels it."""

    due_at: datetime


class ExportView(msgspec.Struct, frozen=True):
    """An archive of personal data: waiting, being made, ready or failed."""

    export_id: str
    state: Literal["waiting", "running", "ready", "failed"]
    room: str
    """Which part of the data is being exported, while it runs."""
    records: int
    size_bytes: int
    file_url: str | None
    expires_at: datetime


class ExportsView(msgspec.Struct, frozen=True):
    """Archives, the latest first."""

    exports: list[ExportView]


def show_export(export: Export) -> ExportView:
    """An archive, with its URL once it is ready."""
    url = f"/api/v1/accounts/me/exports/{export.id}/file" if export.state == "ready" else None
    return ExportView(
        str(export.id), export.state, export.room, export.records, export.size_bytes, url, export.expires_at
    )
