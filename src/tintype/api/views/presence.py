"""Who is active, and the setting about it."""

from datetime import datetime

import msgspec


class PresenceView(msgspec.Struct, frozen=True):
    """Whether somebody is active now, and when they were last."""

    account_id: str
    is_active: bool
    last_active_at: datetime | None


class PresencesView(msgspec.Struct, frozen=True):
    """The presence of several people."""

    presence: list[PresenceView]


class PresenceSettingsView(msgspec.Struct, frozen=True):
    """Whether the viewer shows when they are active."""

    is_shown: bool
