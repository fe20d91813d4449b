/** German, preferences and settings. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {
  "preferences.title": "Einstellungen",
  "preferences.look": "Aussehen",
  "preferences.theme": "Farben",
  "preferences.themeAuto": "Wie das Gerät",
  "preferences.themeLight": "Hell",
  "preferences.themeDark": "Dunkel",
  "preferences.language": "Sprache",
  "preferences.languageAuto": "Wie der Browser",
  "preferences.reading": "Lesen",
  "preferences.autoload": "Weitere Beiträge von selbst laden",
  "preferences.autoloadHint":
    "Aus: Am Ende steht eine Schaltfläche, und du entscheidest, wann es weitergeht.",
  "preferences.shortcuts": "Tastenkürzel mit einer Taste",
  "preferences.shortcutsHint":
    "Aus: Buchstabentasten bewirken nichts, gut bei Sprachsteuerung. Mit ? siehst du sie alle.",
  "preferences.account": "Konto",
  "preferences.signedInAs": "Du bist als {name} angemeldet.",
};
