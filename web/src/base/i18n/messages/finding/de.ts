/** German, search, explore, tags and places. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {
  "finding.label": "Leute, Schlagwörter und Orte suchen",
  "finding.results": "Gefunden",
  "finding.count": { one: "{count} Ergebnis", other: "{count} Ergebnisse" },
  "finding.nothing": "Nichts unter diesem Namen",
  "finding.nothingBody": "Prüfe die Schreibweise oder versuche es mit weniger Buchstaben.",
  "finding.followers": { one: "{count} Follower", other: "{count} Follower" },
  "finding.mutuals": {
    one: "{count} Person, der du folgst, folgt auch",
    other: "{count}, denen du folgst, folgen auch",
  },
  "finding.place": "Ort",
  "finding.recent": "Zuletzt gesucht",
  "finding.forget": "{what} vergessen",
  "finding.forgetAll": "Alle vergessen",
  "finding.order": "Reihenfolge",
  "finding.top": "Beliebteste",
  "finding.newest": "Neueste",
  "finding.tagEmpty": "Keine Beiträge hier",
  "finding.tagEmptyBody": "Niemand hat #{tag} in einem öffentlichen Beitrag benutzt, den du sehen darfst.",
  "finding.placeEmpty": "Keine Beiträge von hier",
  "finding.placeEmptyBody": "Öffentliche Beiträge von diesem Ort erscheinen hier.",
  "finding.placeGone": "Diesen Ort gibt es nicht",
  "finding.placeGoneBody":
    "Vielleicht ist die Adresse falsch. Die Suche findet Orte nach jedem Wort ihres Namens.",
  "finding.exploreEmpty": "Noch nichts zu entdecken",
  "finding.exploreEmptyBody": "Öffentliche Fotos von Leuten, denen du noch nicht folgst, hängen dann hier.",
};
