"""Texts of archives: repaired where they were broken, as plain text, and cut to the lengths that posts have."""

import re
from html.parser import HTMLParser

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_BLOCKS = {"p", "div", "li", "blockquote", "pre", "h1", "h2", "h3"}


def repair(text: str) -> str:
    """The text that was meant, where UTF-8 bytes were written as characters (`Ã©` for `é`); any other as it is.

    Instagram writes each byte as a character of its own. A text with a character above U+00FF, or whose characters are
    no UTF-8, was not broken this way.
    """
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def as_text(value: object) -> str:
    """A text of an archive that may be missing, repaired and without what cannot be stored."""
    return _UNSTORABLE.sub("", repair(value)).strip() if isinstance(value, str) else ""


def html_to_text(html: str) -> str:
    """The text of a small HTML fragment: paragraphs and line breaks become lines, everything else goes."""
    reader = _TextReader()
    reader.feed(html)
    reader.close()
    text = "".join(reader.parts)
    return re.sub(r"\n{3,}", "\n\n", _UNSTORABLE.sub("", text)).strip()


def cut(text: str, length: int) -> str:
    """The text, with an ellipsis at its end where it was longer."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


class _TextReader(HTMLParser):
    """Collects text; scripts and styles are left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - its signature
        if tag in {"script", "style"}:
            self._hidden += 1
        elif tag == "br":
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in {"script", "style"}:
            self._hidden = max(0, self._hidden - 1)
        elif tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)
