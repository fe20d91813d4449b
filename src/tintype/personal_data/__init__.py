"""Personal data: exports of everything an account has stored, and deletion of accounts.

Owns `exports`, `departures` (deletions in progress) and `departed` (their receipts), on the shard of the account. What
other rooms store they export and erase themselves (`PersonalDataHolder` in `base.personal_data`).
"""

from tintype.personal_data.dependencies import PersonalDataDependencies
from tintype.personal_data.errors import ExportNotFound, ExportUnderWay
from tintype.personal_data.events import DepartureDue, ExportReady, ExportRequested
from tintype.personal_data.models import ErasureRequest, Export
from tintype.personal_data.service import PersonalData
from tintype.personal_data.store import QUERIES

__all__ = [
    "QUERIES",
    "DepartureDue",
    "ErasureRequest",
    "Export",
    "ExportNotFound",
    "ExportReady",
    "ExportRequested",
    "ExportUnderWay",
    "PersonalData",
    "PersonalDataDependencies",
]
