"""Errors of the personal data room."""

from tintype.base.errors import Conflict, NotFound


class ExportNotFound(NotFound):
    """There is no such export of yours, it has expired, or its file is not ready yet."""

    code = "export_not_found"


class ExportUnderWay(Conflict):
    """An export of your account is already being made; please wait for it."""

    code = "export_under_way"
