/** German messages: search, explore, tags and places. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {
  "search.label": "Leute, Schlagwörter und Orte suchen",
  "search.results": "Gefunden",
  "search.count": { one: "{count} Ergebnis", other: "{count} Ergebnisse" },
  "search.nothing": "Nichts unter diesem Namen",
  "search.nothingBody": "Prüfe die Schreibweise oder versuche es mit weniger Buchstaben.",
  "search.followers": { one: "{count} Follower", other: "{count} Follower" },
  "search.mutuals": {
    one: "{count} Person, der du folgst, folgt auch",
    other: "{count}, denen du folgst, folgen auch",
  },
  "search.place": "Ort",
  "search.recent": "Zuletzt gesucht",
  "search.forget": "{what} vergessen",
  "search.forgetAll": "Alle vergessen",
  "search.order": "Reihenfolge",
  "search.top": "Beliebteste",
  "search.newest": "Neueste",
  "search.tagEmpty": "Keine Beiträge hier",
  "search.tagEmptyBody": "Niemand hat #{tag} in einem öffentlichen Beitrag benutzt, den du sehen darfst.",
  "search.placeEmpty": "Keine Beiträge von hier",
  "search.placeEmptyBody": "Öffentliche Beiträge von diesem Ort erscheinen hier.",
  "search.placeGone": "Diesen Ort gibt es nicht",
  "search.placeGoneBody":
    "Vielleicht ist die Adresse falsch. Die Suche findet Orte nach jedem Wort ihres Namens.",
  "search.exploreEmpty": "Noch nichts zu entdecken",
  "search.exploreEmptyBody": "Öffentliche Fotos von Leuten, denen du noch nicht folgst, hängen dann hier.",
};
