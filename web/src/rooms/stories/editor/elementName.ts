/** What screen readers are told about an element, and where it is. */
import { formatPercent, t } from "../../../base/i18n";
import type { PlacedElement, Placement } from "../elements/types";

export function elementName(element: PlacedElement): string {
  switch (element.type) {
    case "text":
      return t("storyEditor.nameText", { text: element.text });
    case "mention":
      return t("storyEditor.nameMention", { name: element.username });
    case "place":
      return t("storyEditor.namePlace", { name: element.name });
    case "post":
      return t("stories.sharedPost", { name: element.post?.username ?? "" });
    case "poll":
      return t("storyEditor.namePoll", { text: element.question || element.choices.join(", ") });
    case "question":
      return t("storyEditor.nameQuestion", { text: element.prompt });
    case "countdown":
      return t("storyEditor.nameCountdown", { text: element.title });
  }
}

export function placementText({ x, y, rotation, scale }: Placement): string {
  return t("storyEditor.at", {
    x: formatPercent(x),
    y: formatPercent(y),
    scale: formatPercent(scale),
    degrees: String(Math.round(rotation)),
  });
}
