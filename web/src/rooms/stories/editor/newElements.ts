/** New elements as the editor adds them, and elements as the API takes them. */
import type { Post } from "../../../client";
import type { StoryDraftBody } from "../../../client/stories";
import type { ElementOf, StoryElement, TextElement } from "../elements/types";

export type NewElement = NonNullable<StoryDraftBody["elements"]>[number];

const MIDDLE = { x: 0.5, y: 0.45, rotation: 0, scale: 1 } as const;
export const COLOURS = [
  "#ffffff",
  "#171412",
  "#d9b467",
  "#ee8391",
  "#ab3149",
  "#f39b73",
  "#7fb28a",
  "#3f6f8f",
  "#6b4f8f",
] as const;
export const FONTS = ["plain", "serif", "rounded", "mono", "poster"] as const;
export const ALIGNS = ["center", "start", "end"] as const;
export const PLATES = ["none", "soft", "solid"] as const;

export function newText(style: Partial<TextElement> = {}): TextElement {
  return {
    type: "text",
    ...MIDDLE,
    text: "",
    font: "plain",
    colour: "#ffffff",
    align: "center",
    plate: "none",
    ...style,
  };
}

export function newMention(account_id: string, username: string): ElementOf<"mention"> {
  return { type: "mention", ...MIDDLE, account_id, username, tone: "light" };
}

export function newPlace(place_id: string, name: string): ElementOf<"place"> {
  return { type: "place", ...MIDDLE, place_id, name, tone: "light" };
}

export function newPoll(question: string, choices: string[]): ElementOf<"poll"> {
  return { type: "poll", ...MIDDLE, question, choices, counts: null, viewer_choice: null };
}

export function newQuestion(prompt: string): ElementOf<"question"> {
  return { type: "question", ...MIDDLE, prompt, viewer_answer: null };
}

export function newCountdown(title: string, ends_at: string): ElementOf<"countdown"> {
  return { type: "countdown", ...MIDDLE, title, ends_at, viewer_is_reminded: false };
}

/** A post as a card. */
export function newPostCard(post: Post): ElementOf<"post"> {
  const [first] = post.media;
  return {
    type: "post",
    ...MIDDLE,
    post: {
      post_id: post.post_id,
      code: post.code,
      permalink: post.permalink,
      username: post.author.username,
      profile_pic_url: post.author.profile_pic_url,
      image_url: first?.urls["640"] ?? null,
      width: first?.width ?? 1,
      height: first?.height ?? 1,
      alt_text: first?.alt_text ?? "",
      caption: post.caption.slice(0, 120),
      is_video: first?.type === "video",
    },
  };
}

/** The element without what only viewers see; null for a card whose post is gone. */
export function toNewElement(element: StoryElement): NewElement | null {
  if (element.type === "drawing") return { type: "drawing", strokes: element.strokes };
  const { x, y, rotation, scale } = element;
  const at = { x, y, rotation, scale };
  switch (element.type) {
    case "text":
      return {
        type: "text",
        ...at,
        text: element.text,
        font: element.font,
        colour: element.colour,
        align: element.align,
        plate: element.plate,
      };
    case "mention":
      return { type: "mention", ...at, account_id: element.account_id, tone: element.tone };
    case "place":
      return { type: "place", ...at, place_id: element.place_id, name: element.name, tone: element.tone };
    case "post":
      return element.post ? { type: "post", ...at, post_id: element.post.post_id } : null;
    case "poll":
      return { type: "poll", ...at, question: element.question, choices: element.choices };
    case "question":
      return { type: "question", ...at, prompt: element.prompt };
    case "countdown":
      return { type: "countdown", ...at, title: element.title, ends_at: element.ends_at };
  }
}
