/**
 * Pushes: what the server tells while the app is closed. It names who and what; the words are made here, in the
 * browser's language, because a push travels over machines that are not ours.
 */

export interface Told {
  readonly notification_id: string;
  readonly kind: string;
  readonly username: string | null;
  readonly actor_count: number;
  readonly post_id: string | null;
  readonly unread_count: number;
}

type Words = Readonly<Record<string, string>>;

const words: Readonly<Record<"en" | "de" | "ar", Words>> = {
  en: {
    like: "{name} liked your post",
    comment_like: "{name} liked your comment",
    comment: "{name} commented on your post",
    reply: "{name} replied to you",
    mention: "{name} mentioned you",
    tag: "{name} tagged you in a photo",
    follow: "{name} followed you",
    request: "{name} asked to follow you",
    accepted: "{name} accepted your request",
    story_reply: "{name} replied to your story",
    story_reaction: "{name} reacted to your story",
    story_mention: "{name} mentioned you in a story",
    other: "Something happened on Tintype",
    more: "{name} and others",
  },
  de: {
    like: "{name} gefällt dein Beitrag",
    comment_like: "{name} gefällt dein Kommentar",
    comment: "{name} hat deinen Beitrag kommentiert",
    reply: "{name} hat dir geantwortet",
    mention: "{name} hat dich erwähnt",
    tag: "{name} hat dich auf einem Foto markiert",
    follow: "{name} folgt dir",
    request: "{name} möchte dir folgen",
    accepted: "{name} hat deine Anfrage angenommen",
    story_reply: "{name} hat auf deine Story geantwortet",
    story_reaction: "{name} hat auf deine Story reagiert",
    story_mention: "{name} hat dich in einer Story erwähnt",
    other: "Auf Tintype ist etwas passiert",
    more: "{name} und anderen",
  },
  ar: {
    like: "أعجب {name} منشورك",
    comment_like: "أعجب {name} تعليقك",
    comment: "علّق {name} على منشورك",
    reply: "ردّ عليك {name}",
    mention: "أشار إليك {name}",
    tag: "وسمك {name} في صورة",
    follow: "يتابعك {name}",
    request: "يطلب {name} متابعتك",
    accepted: "قبل {name} طلبك",
    story_reply: "ردّ {name} على قصتك",
    story_reaction: "تفاعل {name} مع قصتك",
    story_mention: "أشار إليك {name} في قصة",
    other: "حدث شيء على Tintype",
    more: "{name} وآخرون",
  },
};

/** The line for one push, in the first of these languages that we speak. */
export function wordingOf(told: Told, languages: readonly string[]): string {
  const code = languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in words) ?? "en";
  const spoken = words[code as keyof typeof words];
  const line = spoken[told.kind];
  if (line === undefined || told.username === null) return spoken["other"] ?? "";
  const name = told.actor_count > 1 ? (spoken["more"] ?? "").replace("{name}", told.username) : told.username;
  return line.replace("{name}", name);
}

/** Where a click on it leads. */
export function addressOf(told: Told): string {
  if (told.kind === "follow" && told.username !== null) return `/@${encodeURIComponent(told.username)}`;
  return "/activity";
}
