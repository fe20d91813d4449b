/** German messages: direct messages. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {
  "messages.emptyTitle": "Hier werden Gespräche wohnen",
  "messages.emptyBody":
    "Einander unter vier Augen zu schreiben, geht noch nicht. Antworten auf deine Storys und Kommentare zu deinen Beiträgen findest du unter Aktivität.",
  "messages.toActivity": "Aktivität öffnen",
  "messages.findPeople": "Leute finden",
};
