/** Who has stories, as this tab holds it: the order of the server, seen at once when seen, stories loaded when wanted. */
import { type Highlight, type Ring, type Story, stories } from "../../client/stories";
import { session } from "../accounts";

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

  /** Asked again after a minute; a failure leaves what is there, because the feed below says what is wrong. */
  async load(isForced = false): Promise<void> {
    if (!isForced && Date.now() - this.#loaded_ms < FRESH_MS) return;
    try {
      const page = await stories.getTray();
      this.#loaded_ms = Date.now();
      this.rings = page.story_ring;
      this.#sheaves.clear();
      for (const ring of page.story_ring) {
        const known = page.stories[ring.user_id];
        if (known) this.#sheaves.set(ring.user_id, Promise.resolve(sheafOf({ ...ring, stories: known })));
      }
    } catch {
      // The tray is an extra.
    } finally {
      this.isLoaded = true;
    }
  }

  /** Somebody's stories that still live; loaded once, a failure is tried again. */
  sheafOf(accountId: string): Promise<Sheaf> {
    const known = this.#sheaves.get(accountId);
    if (known !== undefined) return known;
    const loading = stories.getOf(accountId).then(sheafOf);
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
}

interface Loaded {
  readonly user_id: string;
  readonly username: string;
  readonly full_name: string;
  readonly profile_pic_url: string | null;
  readonly stories: readonly Story[];
}

function sheafOf(loaded: Loaded): Sheaf {
  return {
    accountId: loaded.user_id,
    username: loaded.username,
    fullName: loaded.full_name,
    picture: loaded.profile_pic_url,
    stories: loaded.stories.filter(({ expires_at }) => Date.parse(expires_at) > Date.now()),
  };
}

export const tray = new StoryTray();
session.whenChanged(() => tray.reset());
