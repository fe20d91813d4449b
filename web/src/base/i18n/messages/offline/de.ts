/** German messages: the queue of offline mutations. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {
  "offline.likeRefused": "Ein „Gefällt mir“, das du offline vergeben hast, wurde nicht angenommen. {reason}",
  "offline.saveRefused":
    "Ein Beitrag, den du dir offline gemerkt hast, konnte nicht gemerkt werden. {reason}",
  "offline.followRefused": "Ein Folgen, das du offline ausgelöst hast, wurde nicht angenommen. {reason}",
  "offline.commentRefused": "Ein offline geschriebener Kommentar wurde nicht angenommen. {reason}",
  "offline.commentLikeRefused": "Ein „Gefällt mir“ für einen Kommentar wurde nicht angenommen. {reason}",
  "offline.state": "Offline",
  "offline.waiting": { one: "{count} wartet", other: "{count} warten" },
  "offline.sending": "Wird gesendet",
  "offline.sendNow": "Jetzt senden",
  "offline.show": "Zeigen, was wartet",
  "offline.title": "Wartet darauf, gesendet zu werden",
  "offline.body":
    "Das ist auf diesem Gerät gespeichert und wird genau einmal gesendet, sobald der Server erreichbar ist.",
  "offline.withdraw": "Nicht senden",
  "offline.like": "Ein „Gefällt mir“",
  "offline.unlike": "Ein zurückgenommenes „Gefällt mir“",
  "offline.commentLike": "Ein „Gefällt mir“ für einen Kommentar",
  "offline.commentUnlike": "Ein zurückgenommenes „Gefällt mir“ für einen Kommentar",
  "offline.save": "Ein gemerkter Beitrag",
  "offline.unsave": "Ein nicht mehr gemerkter Beitrag",
  "offline.follow": "Ein neues Folgen",
  "offline.unfollow": "Ein beendetes Folgen",
  "offline.comment": "Ein Kommentar: {text}",
  "offline.publishing": "Dein Beitrag wird veröffentlicht",
  "offline.publishProgress": "Fortschritt deines Beitrags",
  "offline.publishWaiting": "Dein Beitrag wartet auf eine Verbindung",
  "offline.publishStopped": "Dein Beitrag konnte nicht veröffentlicht werden. {reason}",
  "offline.publishFile": "{name} ist nicht verwendbar, deshalb wartet dein Beitrag. {reason}",
  "offline.publishRest": "Ohne die Datei veröffentlichen",
  "offline.publishOpen": "Zurück zum Entwurf",
  "offline.published": "Veröffentlicht.",
  "offline.scheduled": "Geplant für {time}.",
  "offline.publishedBefore": "Dieser Beitrag war schon veröffentlicht.",
  "problem.draft_file_lost": "Die Datei ist nicht mehr auf diesem Gerät. Füg sie noch einmal hinzu.",
  "problem.too_many_scheduled":
    "Du kannst höchstens 100 Beiträge planen, und pro Tag nicht mehr, als du an einem Tag veröffentlichen darfst.",
  "problem.publish_time_invalid": "Wähl einen Zeitpunkt innerhalb des nächsten Jahres.",
  "problem.storage_full":
    "Dein Speicher ist voll. Lösche zuerst etwas oder bitte die Betreiber dieser Seite um mehr.",
  "problem.too_many_videos":
    "Mehrere deiner Videos werden noch vorbereitet. Warte, bis einige davon fertig sind.",
  "problem.video_time_used_up": "Du hast das Videolimit für heute erreicht. Versuch es morgen wieder.",
};
