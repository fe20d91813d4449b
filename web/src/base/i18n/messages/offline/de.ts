/** German messages: the queue of offline mutations. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {
  "offline.likeRefused": "Ein „Gefällt mir“ von unterwegs wurde nicht angenommen. {reason}",
  "offline.saveRefused": "Ein offline gemerkter Beitrag konnte nicht gemerkt werden. {reason}",
  "offline.followRefused": "Jemand, dem du offline gefolgt bist, wird nicht gefolgt. {reason}",
  "offline.commentRefused": "Ein offline geschriebener Kommentar wurde nicht angenommen. {reason}",
  "offline.commentLikeRefused": "Ein „Gefällt mir“ für einen Kommentar wurde nicht angenommen. {reason}",
  "offline.state": "Offline",
  "offline.waiting": { one: "{count} wartet", other: "{count} warten" },
  "offline.sending": "Wird gesendet",
  "offline.sendNow": "Jetzt senden",
  "offline.show": "Was wartet",
  "offline.title": "Wartet auf das Senden",
  "offline.body":
    "Das ist auf diesem Gerät gespeichert und wird genau einmal gesendet, sobald der Server erreichbar ist.",
  "offline.withdraw": "Nicht senden",
  "offline.like": "Ein „Gefällt mir“",
  "offline.unlike": "Ein zurückgenommenes „Gefällt mir“",
  "offline.commentLike": "Ein „Gefällt mir“ für einen Kommentar",
  "offline.commentUnlike": "Ein zurückgenommenes „Gefällt mir“ für einen Kommentar",
  "offline.save": "Ein Beitrag zum Merken",
  "offline.unsave": "Ein nicht mehr gemerkter Beitrag",
  "offline.follow": "Jemand, dem du folgen willst",
  "offline.unfollow": "Jemand, dem du nicht mehr folgen willst",
  "offline.comment": "Ein Kommentar: {text}",
};
