/** German messages: notifications. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {
  "activity.more": "Rund um deine Aktivität",
  "activity.decisions": "Entscheidungen",
  "activity.new": "Neu:",
  "activity.fresh": { one: "{count} neu", other: "{count} neu" },
  "activity.empty": "Noch ist es still",
  "activity.emptyBody": "Likes, Kommentare und neue Follower erscheinen hier.",
  "activity.remove": "Entfernen: {what}",
  "activity.since.today": "Heute",
  "activity.since.week": "Diese Woche",
  "activity.since.month": "Diesen Monat",
  "activity.since.earlier": "Früher",
  "activity.somebody": "Jemand",
  "activity.andOthers": { one: "{name} und {count} weitere Person", other: "{name} und {count} weitere" },
  "activity.two": "{first} und {second}",
  "activity.twoAndOthers": {
    one: "{first}, {second} und {count} weitere Person",
    other: "{first}, {second} und {count} weitere",
  },
  "activity.like": "{who}: Gefällt mir für deinen Beitrag.",
  "activity.comment_like": "{who}: Gefällt mir für deinen Kommentar.",
  "activity.comment": "{who}: Kommentar zu deinem Beitrag.",
  "activity.reply": "{who}: Antwort auf deinen Kommentar.",
  "activity.mention": "{who}: Du wurdest erwähnt.",
  "activity.tag": "{who}: Du wurdest auf einem Foto markiert.",
  "activity.follow": "{who}: Neu unter deinen Followern.",
  "activity.request": "{who}: Anfrage, dir folgen zu dürfen.",
  "activity.accepted": "{who}: Du darfst jetzt folgen.",
  "activity.warning":
    "Die Moderation hat über etwas von dir entschieden. Sieh nach, worüber, und wie du widersprichst.",
  "activity.story_reaction": "{who}: Reaktion auf deine Story: {reaction}",
  "activity.story_reply": "{who}: Antwort auf deine Story.",
  "activity.story_mention": "{who}: Du wurdest in einer Story erwähnt.",
};
