/** German messages: search, explore, tags and places. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {
  "search.placeholder": "Personen, Hashtags, Orte, Bildtexte",
  "search.label": "Personen, Hashtags, Orte und Bildtexte suchen",
  "search.results": "Suchergebnisse",
  "search.count": { one: "{count} Ergebnis", other: "{count} Ergebnisse" },
  "search.nothing": "Keine Ergebnisse",
  "search.nothingBody": "Prüfe die Schreibweise oder versuche es mit weniger Buchstaben.",
  "search.followers": { one: "{count} Follower", other: "{count} Follower" },
  "search.mutuals": {
    one: "gefolgt von {count} Person, der du folgst",
    other: "gefolgt von {count} Personen, denen du folgst",
  },
  "search.place": "Ort",
  "search.recent": "Zuletzt gesucht",
  "search.forget": "{what} entfernen",
  "search.forgetAll": "Alle entfernen",
  "search.followFailed": "Bei #{tag} hat sich nichts geändert. {reason}",
  "problem.too_many_tags": "Du folgst schon so vielen Hashtags wie erlaubt. Entferne zuerst einen.",
  "search.order": "Reihenfolge",
  "search.top": "Beliebteste",
  "search.newest": "Neueste",
  "search.tagEmpty": "Keine Beiträge hier",
  "search.tagEmptyBody": "Es gibt keine öffentlichen Beiträge mit #{tag}, die du sehen kannst.",
  "search.placeEmpty": "Keine Beiträge von hier",
  "search.placeEmptyBody": "Öffentliche Beiträge von diesem Ort erscheinen hier.",
  "search.placeGone": "Ort nicht gefunden",
  "search.placeGoneBody":
    "Vielleicht ist die Adresse falsch geschrieben. Die Suche findet Orte nach jedem Wort ihres Namens.",
  "search.exploreEmpty": "Noch nichts zu entdecken",
  "search.exploreEmptyBody": "Hier erscheinen öffentliche Fotos von Leuten, denen du noch nicht folgst.",
};
