/** The HTTP requests with the same effect as commands, for when there is no live connection. */
import { send } from "../client";
import type { Reply } from "./contract";

type Payload = Readonly<Record<string, unknown>>;
type Request = (payload: Payload, id: string) => Promise<Reply | null>;

const part = (payload: Payload, name: string): string => encodeURIComponent(String(payload[name]));
const threadPath = (payload: Payload): string => `/direct/threads/${part(payload, "thread_id")}`;
const messagePath = (payload: Payload): string =>
  `${threadPath(payload)}/messages/${part(payload, "message_id")}`;

/** What goes into the body: all but what is in the path, and the command's id as that of the change. */
function change(payload: Payload, id: string): Payload {
  const { thread_id: _thread, message_id: _message, ...rest } = payload;
  return { ...rest, local_id: id };
}

const REQUESTS: Readonly<Record<string, Request>> = {
  "direct.send": (payload, id) =>
    send<Reply>("POST", `${threadPath(payload)}/messages`, { json: change(payload, id) }),
  "direct.edit": (payload, id) => send("PUT", `${messagePath(payload)}/text`, { json: change(payload, id) }),
  "direct.unsend": (payload, id) =>
    send("PUT", `${messagePath(payload)}/unsent`, { json: change(payload, id) }),
  "direct.react": (payload, id) =>
    send("PUT", `${messagePath(payload)}/reaction`, { json: change(payload, id) }),
  "direct.seen": (payload) =>
    send("PUT", `${threadPath(payload)}/seen`, { json: { number: payload["number"] } }),
  "presence.watch": (payload) =>
    send<Reply>("GET", "/presence", {
      query: { account_ids: (payload["account_ids"] as string[]).join(",") },
    }),
};

/** The request for a command; null where there is none, because the command is worth nothing without a live connection. */
export function findHttpCommand(
  kind: string,
  payload: object,
  id: string,
): (() => Promise<Reply | null>) | null {
  const request = REQUESTS[kind];
  return request === undefined ? null : () => request({ ...payload }, id);
}
