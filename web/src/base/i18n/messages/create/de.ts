/** German, making a post. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {
  "create.title": "Neuer Beitrag",
  "create.drop": "Zieh Fotos hierher",
  "create.dropNow": "Loslassen, um sie hinzuzufügen",
  "create.pick": "Fotos auswählen",
  "create.limits": "Bis zu {count} Fotos. JPEG, PNG, HEIC oder WebP.",
  "create.add": "Fotos hinzufügen",
  "create.remove": "Foto {index} entfernen",
  "create.photo": "Foto {index}",
  "create.altLabel": "Beschreibung",
  "create.altHint": "Was ist zu sehen? Für alle, die das Bild nicht sehen können.",
  "create.caption": "Bildtext",
  "create.captionLeft": { one: "noch {count} Zeichen", other: "noch {count} Zeichen" },
  "create.captionOver": { one: "{count} Zeichen zu viel", other: "{count} Zeichen zu viel" },
  "create.publish": "Veröffentlichen",
  "create.publishing": "Wird veröffentlicht …",
  "create.published": "Veröffentlicht.",
  "create.uploading": "Wird hochgeladen, {percent}",
  "create.preparing": "Wird vorbereitet …",
  "create.waiting": "Wartet",
  "create.ready": "Bereit",
  "create.failed": "Nicht hochgeladen. {reason}",
  "create.noPreview":
    "Dein Browser kann dieses Format nicht zeigen. Die Vorschau erscheint nach dem Hochladen.",
  "create.tooMany": {
    one: "Ein Beitrag fasst {count} Foto.",
    other: "Ein Beitrag fasst {count} Fotos.",
  },
  "create.notImages": "Nur Fotos lassen sich hinzufügen.",
  "create.altPromptTitle": "Fotos beschreiben?",
  "create.altPromptBody": {
    one: "{count} Foto hat keine Beschreibung. Wer einen Screenreader benutzt, erfährt nicht, was darauf ist.",
    other:
      "{count} Fotos haben keine Beschreibung. Wer einen Screenreader benutzt, erfährt nicht, was darauf ist.",
  },
  "create.altPromptAdd": "Beschreiben",
  "create.altPromptSkip": "Ohne veröffentlichen",
  "create.discardTitle": "Beitrag verwerfen?",
  "create.discardBody": "Fotos und Bildtext gehen verloren.",
  "create.discard": "Verwerfen",
};
