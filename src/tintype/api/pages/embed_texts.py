"""The few words of an embed, in the languages of the app."""

from dataclasses import dataclass


@dataclass(frozen=True)
class EmbedTexts:
    """The words in one language."""

    language: str
    direction: str
    view: str
    away: str


TEXTS = {
    "en": EmbedTexts("en", "ltr", "View on Tintype", "This post is not available."),
    "de": EmbedTexts("de", "ltr", "Auf Tintype ansehen", "Dieser Beitrag ist nicht verfügbar."),
    "ar": EmbedTexts("ar", "rtl", "عرض على Tintype", "هذا المنشور غير متاح."),
}


def texts_for(accept_language: str) -> EmbedTexts:
    """The words in the first language of an Accept-Language header that there are words in; else in English."""
    for part in accept_language.split(","):
        language = part.partition(";")[0].strip().partition("-")[0].lower()
        if language in TEXTS:
            return TEXTS[language]
    return TEXTS["en"]
