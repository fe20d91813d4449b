/** What the ranking is told, and what it tells. */
import { csrfHeaders } from "./csrf";
import { API, send } from "./http";
import type { Schemas } from "./types";

export type Explanation = Schemas["Explanation"];

export interface Impression {
  readonly post_id: string;
  readonly ms: number;
}

/** Why a post stands where it does in the viewer's ranked feed. */
export const getExplanation = (postId: string) =>
  send<Explanation>("GET", `/posts/${encodeURIComponent(postId)}/explanation`);

/** Arrives even when the page is just being left; says whether the server wants to hear such things. */
export async function reportSeen(impressions: readonly Impression[]): Promise<boolean> {
  const response = await fetch(`${API}/feed/seen`, {
    method: "POST",
    credentials: "same-origin",
    keepalive: true,
    headers: { "Content-Type": "application/json", ...csrfHeaders() },
    body: JSON.stringify({ impressions }),
  });
  return response.status !== 404;
}
