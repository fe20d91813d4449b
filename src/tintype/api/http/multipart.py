"""Streaming multipart forms: the file is spooled to disk as it arrives, never held in memory."""

from collections.abc import AsyncIterator
from typing import Any

from litestar import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from tintype.base.errors import Invalid
from tintype.media import MediaTooLarge, Spool

MAX_FIELD_BYTES = 16 * 1024
MAX_FORM_BYTES = 64 * 1024
"""The size of a form without its file."""
MAX_PARTS = 16


class FormInvalid(Invalid):
    """Send a multipart/form-data body with the file in the field `file` and at most a few small fields."""

    code = "form_invalid"


async def body_chunks(request: Request[Any, Any, Any], *, max_bytes: int) -> AsyncIterator[bytes]:
    """The body in chunks as it arrives; a client that disconnects half-way is a ConnectionResetError."""
    count = 0
    while True:
        event: Any = await request.receive()
        if event["type"] == "http.disconnect":
            raise ConnectionResetError("the client disconnected during the upload")
        body: bytes = event.get("body", b"")
        count += len(body)
        if count > max_bytes:
            raise MediaTooLarge
        if body:
            yield body
        if not event.get("more_body", False):
            return


class FileForm:
    """A form of small fields and one file, which is written to a spool."""

    def __init__(self, content_type: str, spool: Spool) -> None:
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary", b"")
        if kind != b"multipart/form-data" or not boundary:
            raise FormInvalid
        self.fields: dict[str, str] = {}
        self.has_file = False
        self._is_whole = False
        self._spool = spool
        self._parts = 0
        self._name = ""
        self._header = b""
        self._value = b""
        self._field = bytearray()
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": self._on_header,
                    "on_header_value": self._on_value,
                    "on_header_end": self._end_header,
                    "on_part_data": self._on_data,
                    "on_part_end": self._end,
                    "on_end": self._end_form,
                },
            )
        except FormParserError as error:
            raise FormInvalid from error

    async def read(self, chunks: AsyncIterator[bytes]) -> None:
        """Parse the whole body; afterwards `fields` is complete and the file is in the spool."""
        try:
            async for chunk in chunks:
                self._parser.write(chunk)
            self._parser.finalize()
        except FormParserError as error:
            raise FormInvalid(error=str(error)) from error
        finally:
            self._spool.close()
        if not self._is_whole:
            raise FormInvalid("The form ends too early.")
        if not self.has_file:
            raise FormInvalid("Send the photo or video as the form field `file`.")
        self._spool.check()

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise FormInvalid
        self._name, self._header, self._value = "", b"", b""
        self._field.clear()

    def _on_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            _, options = parse_options_header(self._value)
            self._name = options.get(b"name", b"").decode("utf-8", "replace")
        if self._name == "file":
            if self.has_file and self._spool.size_bytes:
                raise FormInvalid("Send one file at a time.")
            self.has_file = True
        self._header, self._value = b"", b""

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._name == "file":
            self._spool.write(memoryview(data)[start:end])
        elif len(self._field) + end - start > MAX_FIELD_BYTES:
            raise FormInvalid(f"A field has at most {MAX_FIELD_BYTES} bytes.")
        else:
            self._field += data[start:end]

    def _end(self) -> None:
        if self._name and self._name != "file":
            try:
                self.fields[self._name] = self._field.decode()
            except UnicodeDecodeError as error:
                raise FormInvalid("Fields are text in UTF-8.") from error

    def _end_form(self) -> None:
        self._is_whole = True
