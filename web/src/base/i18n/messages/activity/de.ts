/** German messages: notifications. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {
  "activity.more": "Verwandte Seiten",
  "activity.decisions": "Entscheidungen",
  "activity.new": "Neu:",
  "activity.fresh": { one: "{count} neu", other: "{count} neu" },
  "activity.empty": "Noch keine Aktivität",
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
  "activity.like": { one: "{who} mag deinen Beitrag.", other: "{who} mögen deinen Beitrag." },
  "activity.comment_like": { one: "{who} mag deinen Kommentar.", other: "{who} mögen deinen Kommentar." },
  "activity.comment": {
    one: "{who} hat deinen Beitrag kommentiert.",
    other: "{who} haben deinen Beitrag kommentiert.",
  },
  "activity.reply": {
    one: "{who} hat auf deinen Kommentar geantwortet.",
    other: "{who} haben auf deinen Kommentar geantwortet.",
  },
  "activity.mention": { one: "{who} hat dich erwähnt.", other: "{who} haben dich erwähnt." },
  "activity.tag": {
    one: "{who} hat dich auf einem Foto markiert.",
    other: "{who} haben dich auf einem Foto markiert.",
  },
  "activity.follow": { one: "{who} folgt dir jetzt.", other: "{who} folgen dir jetzt." },
  "activity.request": { one: "{who} möchte dir folgen.", other: "{who} möchten dir folgen." },
  "activity.accepted": {
    one: "{who} hat deine Folgeanfrage angenommen.",
    other: "{who} haben deine Folgeanfrage angenommen.",
  },
  "activity.warning":
    "Die Moderation hat über einen deiner Inhalte entschieden. Sieh nach, worum es geht und wie du widersprechen kannst.",
  "activity.story_reaction": {
    one: "{who} hat auf deine Story reagiert: {reaction}",
    other: "{who} haben auf deine Story reagiert: {reaction}",
  },
  "activity.story_reply": {
    one: "{who} hat auf deine Story geantwortet.",
    other: "{who} haben auf deine Story geantwortet.",
  },
  "activity.story_mention": {
    one: "{who} hat dich in einer Story erwähnt.",
    other: "{who} haben dich in einer Story erwähnt.",
  },
  "activity.story_answer": {
    one: "{who} hat die Frage in deiner Story beantwortet.",
    other: "{who} haben die Frage in deiner Story beantwortet.",
  },
  "activity.story_countdown": "Der Countdown in der Story von {who} ist abgelaufen.",
};
