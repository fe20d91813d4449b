/** Who has stories, as this tab holds it: the order of the server, seen at once when seen, stories loaded when wanted. */
import { whenParted } from "../../base/parting";
import { type Highlight, type Ring, type Story, stories } from "../../client/stories";
import { isUnreachable } from "../../offline";
import { session } from "../accounts";
import { kept, living } from "./kept";

/** Somebody's stories in a row. */
export interface Sheaf {
  readonly accountId: string;
  readonly username: string;
  readonly fullName: string;
  readonly picture: string | null;
  readonly stories: readonly Story[];
  /** The highlight it is, where its owner looks at it. */
  readonly highlight?: Highlight;
}

const FRESH_MS = 60_000;

export class StoryTray {
  rings = $state.raw<readonly Ring[]>([]);
  isLoaded = $state.raw(false);
  readonly #sheaves = new Map<string, Promise<Sheaf>>();
  #loaded_ms = 0;

  /** Asked again after a minute. Without a connection those remain whose stories were seen and still live. */
  async load(isForced = false): Promise<void> {
    if (!isForced && Date.now() - this.#loaded_ms < FRESH_MS) return;
    try {
      const page = await stories.getTray();
      this.#loaded_ms = Date.now();
      this.rings = page.story_ring;
      this.#sheaves.clear();
      for (const ring of page.story_ring) {
        const known = page.stories[ring.user_id];
        if (known) this.#sheaves.set(ring.user_id, Promise.resolve(this.#take({ ...ring, stories: known })));
      }
      const present = new Set(page.story_ring.map(({ user_id }) => user_id));
      void kept.keepOnly((accountId) => present.has(accountId)).catch(() => {});
    } catch (error) {
      if (isUnreachable(error) && this.rings.length === 0) await this.#showKept();
    } finally {
      this.isLoaded = true;
    }
  }

  /** Somebody's stories that still live; loaded once, a failure is tried again. */
  async sheafOf(accountId: string): Promise<Sheaf> {
    const known = this.#sheaves.get(accountId);
    if (known !== undefined) return living(await known);
    const loading = this.#load(accountId);
    this.#sheaves.set(accountId, loading);
    loading.catch(() => this.#sheaves.delete(accountId));
    return loading;
  }

  /** Its plate loses its edge once everything has been seen. */
  noteSeen(accountId: string): void {
    this.rings = this.rings.map((ring) => {
      if (ring.user_id !== accountId || ring.unseen_count === 0) return ring;
      const unseen_count = ring.unseen_count - 1;
      return { ...ring, unseen_count, has_unseen: unseen_count > 0 };
    });
  }

  drop(accountId: string): void {
    this.rings = this.rings.filter(({ user_id }) => user_id !== accountId);
    this.#sheaves.delete(accountId);
    void kept.keepOnly((each) => each !== accountId).catch(() => {});
  }

  /** Something of one's own came or went. */
  async renew(): Promise<void> {
    this.#sheaves.clear();
    await this.load(true);
  }

  reset(): void {
    this.rings = [];
    this.isLoaded = false;
    this.#loaded_ms = 0;
    this.#sheaves.clear();
  }

  async #load(accountId: string): Promise<Sheaf> {
    try {
      return this.#take(await stories.getOf(accountId));
    } catch (error) {
      const seen = isUnreachable(error) ? await kept.find() : [];
      const sheaf = seen.find((each) => each.accountId === accountId);
      if (sheaf === undefined) throw error;
      return sheaf;
    }
  }

  /** What was kept of theirs on this device follows what the server shows. */
  #take(loaded: Loaded): Sheaf {
    const sheaf = sheafOf(loaded);
    void kept.agree(sheaf).catch(() => {});
    return sheaf;
  }

  async #showKept(): Promise<void> {
    const sheaves = (await kept.find().catch(() => [])).toReversed();
    this.rings = sheaves.map(ringOf);
    for (const sheaf of sheaves) this.#sheaves.set(sheaf.accountId, Promise.resolve(sheaf));
  }
}

interface Loaded {
  readonly user_id: string;
  readonly username: string;
  readonly full_name: string;
  readonly profile_pic_url: string | null;
  readonly stories: readonly Story[];
}

function sheafOf(loaded: Loaded): Sheaf {
  return living({
    accountId: loaded.user_id,
    username: loaded.username,
    fullName: loaded.full_name,
    picture: loaded.profile_pic_url,
    stories: loaded.stories,
  });
}

/** Somebody's plate when only what was seen of theirs is left. */
function ringOf({ accountId, username, fullName, picture, stories: seen }: Sheaf): Ring {
  return {
    user_id: accountId,
    username,
    full_name: fullName,
    profile_pic_url: picture,
    is_verified: false,
    is_self: seen.some(({ viewer_is_author }) => viewer_is_author),
    has_unseen: false,
    is_close_friends: seen.some(({ audience }) => audience === "close_friends"),
    latest_story_ts: seen.at(-1)?.created_at ?? "",
    story_count: seen.length,
    unseen_count: 0,
  };
}

export const tray = new StoryTray();
session.whenChanged(() => tray.reset());
whenParted(({ accountId, from }) => {
  if (from === "everything" || from === "stories") tray.drop(accountId);
});
