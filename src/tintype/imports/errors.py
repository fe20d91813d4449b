"""Ways in which an archive or an import is refused as a whole; single items are named in the report."""

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound


class ArchiveInvalid(Invalid):
    """That is no archive that can be imported."""

    code = "archive_invalid"


class ArchiveIsHtml(ArchiveInvalid):
    """That archive consists of web pages (HTML), for reading. Ask Instagram for another one, in the format JSON."""

    code = "archive_is_html"


class ArchiveTooCostly(ArchiveInvalid):
    """Reading that archive takes more memory or time than an import may use."""

    code = "archive_too_costly"


class ArchiveTooLarge(Invalid):
    """The archives of this import are larger than this site accepts."""

    code = "archive_too_large"


class TooManyArchives(Conflict):
    """An import cannot have any more archives."""

    code = "too_many_archives"


class ImportNotFound(NotFound):
    """There is no such import of yours."""

    code = "import_not_found"


class ImportUnderWay(Conflict):
    """Another import of yours is under way: wait for it, or cancel it."""

    code = "import_under_way"


class ImportIncomplete(Conflict):
    """An import starts once it has an archive and all its archives have arrived."""

    code = "import_incomplete"


class ImportStarted(Conflict):
    """That import has been started or is over."""

    code = "import_started"


class ImportsOff(Forbidden):
    """Imports are switched off on this site."""

    code = "imports_off"


class FileUnreadable(Exception):
    """One file of an archive cannot be read; the text says why."""

    code = "file_unreadable"
