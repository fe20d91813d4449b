/** Impressions for the ranking, and its explanations. */
import { csrfHeaders } from "./csrf";
import { API, send } from "./http";
import type { Schemas } from "./types";

export type Explanation = Schemas["Explanation"];

export interface Impression {
  readonly post_id: string;
  readonly ms: number;
}

/** Why a post has its position in the viewer's ranked feed. */
export const getExplanation = (postId: string) =>
  send<Explanation>("GET", `/posts/${encodeURIComponent(postId)}/explanation`);

/** Sends impressions, even while the page is being closed. Resolves to false when the server does not collect them. */
export async function reportImpressions(impressions: readonly Impression[]): Promise<boolean> {
  const response = await fetch(`${API}/feed/seen`, {
    method: "POST",
    credentials: "same-origin",
    keepalive: true,
    headers: { "Content-Type": "application/json", ...csrfHeaders() },
    body: JSON.stringify({ impressions }),
  });
  return response.status !== 404;
}
