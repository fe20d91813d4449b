/**
 * The text of push notifications. The payload names only who and what, and of a direct message as much as its recipient
 * wants to see; the text is composed here, in the browser's language.
 */

export interface PushPayload {
  readonly notification_id: string;
  readonly kind: string;
  readonly username: string | null;
  readonly actor_count: number;
  readonly post_id: string | null;
  readonly unread_count: number;
  /** Of a direct message: its beginning, where the recipient wants it shown, and its conversation. */
  readonly text?: string | null;
  readonly thread_id?: string;
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
    follow: "{name} started following you",
    request: "{name} requested to follow you",
    accepted: "{name} accepted your request",
    story_reply: "{name} replied to your story",
    story_reaction: "{name} reacted to your story",
    story_mention: "{name} mentioned you in a story",
    story_answer: "{name} answered the question in your story",
    story_countdown: "The countdown in {name}’s story has ended",
    message: "{name} sent you a message",
    new_message: "You have a new message",
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
    story_answer: "{name} hat die Frage in deiner Story beantwortet",
    story_countdown: "Der Countdown in der Story von {name} ist abgelaufen",
    message: "{name} hat dir geschrieben",
    new_message: "Du hast eine neue Nachricht",
    other: "Auf Tintype ist etwas passiert",
    more: "{name} und anderen",
  },
  ar: {
    like: "أُعجب {name} بمنشورك",
    comment_like: "أُعجب {name} بتعليقك",
    comment: "علّق {name} على منشورك",
    reply: "ردّ عليك {name}",
    mention: "أشار إليك {name}",
    tag: "أشار إليك {name} في صورة",
    follow: "بدأ {name} بمتابعتك",
    request: "طلب {name} متابعتك",
    accepted: "قبل {name} طلبك",
    story_reply: "ردّ {name} على قصتك",
    story_reaction: "تفاعل {name} مع قصتك",
    story_mention: "أشار إليك {name} في قصة",
    story_answer: "أجاب {name} عن سؤال قصتك",
    story_countdown: "انتهى العدّ التنازلي في قصة {name}",
    message: "أرسل إليك {name} رسالة",
    new_message: "لديك رسالة جديدة",
    other: "حدث شيء على Tintype",
    more: "{name} وآخرون",
  },
};

/** The notification text in the first supported of these languages. */
export function pushText(payload: PushPayload, languages: readonly string[]): string {
  const code = languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in words) ?? "en";
  const messages = words[code as keyof typeof words];
  if (payload.kind === "message" && payload.username === null) return messages["new_message"] ?? "";
  if (payload.kind === "message" && payload.text) return `${payload.username}: ${payload.text}`;
  const text = messages[payload.kind];
  if (text === undefined || payload.username === null) return messages["other"] ?? "";
  const name =
    payload.actor_count > 1 ? (messages["more"] ?? "").replace("{name}", payload.username) : payload.username;
  return text.replace("{name}", name);
}

/** The path that a click on the notification opens. */
export function pushTarget(payload: PushPayload): string {
  if (payload.kind === "follow" && payload.username !== null)
    return `/@${encodeURIComponent(payload.username)}`;
  if (payload.kind === "message" && payload.thread_id !== undefined) return `/messages/${payload.thread_id}`;
  return "/activity";
}
