"""Events of encrypted threads."""

from tintype.base.events import Event
from tintype.base.ids import AccountId
from tintype.direct.encryption.models import DeviceId


class EncryptionDevicesChanged(Event, frozen=True):
    """Somebody has a new device, or these are gone: the trees of their encrypted threads are to follow."""

    account_id: AccountId
    removed_ids: tuple[DeviceId, ...] = ()
