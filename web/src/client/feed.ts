/** What the ranking is told, and what it tells. */
import { csrfHeaders } from "./csrf";
import { API, send } from "./http";
import type { Post } from "./types";

export interface Explanation {
  readonly post_id: string;
  readonly summary: string;
  readonly signals: readonly {
    readonly name: string;
    readonly words: string;
    /** From 0 to 1. */
    readonly value: number;
    /** To each outcome, in log-odds. */
    readonly contributions: Readonly<Record<string, number>>;
  }[];
}

export interface Impression {
  readonly post_id: string;
  readonly ms: number;
}

const LOOKED_THROUGH = 50;

/** Why a post stands where it does in the ranked feed; null when it no longer stands near its top. */
export async function findExplanation(postId: string): Promise<Explanation | null> {
  const query = { mode: "ranked", limit: LOOKED_THROUGH, explain: 1 };
  const page = await send<{ posts: (Post & { explanation?: Explanation | null })[] }>("GET", "/feed", {
    query,
  });
  return page.posts.find(({ post_id }) => post_id === postId)?.explanation ?? null;
}

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
