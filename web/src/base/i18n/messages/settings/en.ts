/** English, preferences and settings. The others are measured against it. Keys are "room.what"; `{name}` is filled in. */
export const en = {
  "preferences.title": "Preferences",
  "preferences.look": "Appearance",
  "preferences.theme": "Theme",
  "preferences.themeAuto": "As the device",
  "preferences.themeLight": "Light",
  "preferences.themeDark": "Dark",
  "preferences.language": "Language",
  "preferences.languageAuto": "As the browser",
  "preferences.reading": "Reading",
  "preferences.autoload": "Load more posts by itself",
  "preferences.autoloadHint": "Off: the feed ends with a button, and you decide when to go on.",
  "preferences.shortcuts": "Single-key shortcuts",
  "preferences.shortcutsHint": "Off: letter keys do nothing, which suits voice control. Press ? to see them.",
  "preferences.account": "Account",
  "preferences.signedInAs": "You are logged in as {name}.",
} as const;
