/**
 * Stories that were seen, kept to be looked at again without a connection: for as long as they live and not a moment
 * longer, pictures included. What the server no longer shows, or somebody no longer wants to see, goes at the next look.
 */
import type { Story } from "../../client/stories";
import { offline } from "../../offline";
import type { Sheaf } from "./tray.svelte";

const KEY = "stories";

/** The picture that is shown of a story. */
export function pictureOf({ media }: Story): string {
  return media.urls["1080"] ?? media.url;
}

export function isAlive({ expires_at }: Story): boolean {
  return Date.parse(expires_at) > Date.now();
}

/** The sheaf without what is over by now. */
export function living(sheaf: Sheaf): Sheaf {
  return sheaf.stories.every(isAlive) ? sheaf : { ...sheaf, stories: sheaf.stories.filter(isAlive) };
}

export class KeptStories {
  /** One change after the other: each reads what the last one wrote. */
  #last: Promise<unknown> = Promise.resolve();

  /** What can be looked at now, in the order in which people were looked at. */
  async find(): Promise<readonly Sheaf[]> {
    await this.#change((sheaves) => sheaves);
    return (await offline.find<readonly Sheaf[]>(KEY)) ?? [];
  }

  /** This one has been seen; a clip is kept as its picture. */
  add(sheaf: Sheaf, story: Story): Promise<void> {
    const still: Story = { ...story, seen: true, media: { ...story.media, video_url: null, hls_url: null } };
    return this.#change((sheaves) => {
      const before = sheaves.find(({ accountId }) => accountId === sheaf.accountId)?.stories ?? [];
      const others = before.filter(({ story_id }) => story_id !== story.story_id);
      const stories = [...others, still].sort((a, b) => a.created_at.localeCompare(b.created_at));
      const rest = sheaves.filter(({ accountId }) => accountId !== sheaf.accountId);
      return [...rest, { ...sheaf, stories }];
    });
  }

  /** Only stories that the server still shows stay. */
  agree(sheaf: Sheaf): Promise<void> {
    const shown = new Set(sheaf.stories.map(({ story_id }) => story_id));
    return this.#change((sheaves) =>
      sheaves.map((kept) =>
        kept.accountId === sheaf.accountId
          ? { ...kept, stories: kept.stories.filter(({ story_id }) => shown.has(story_id)) }
          : kept,
      ),
    );
  }

  /** Only these people's stay. */
  keepOnly(isWanted: (accountId: string) => boolean): Promise<void> {
    return this.#change((sheaves) => sheaves.filter(({ accountId }) => isWanted(accountId)));
  }

  #change(decide: (sheaves: readonly Sheaf[]) => readonly Sheaf[]): Promise<void> {
    const work = this.#last.then(async () => {
      const before = (await offline.find<readonly Sheaf[]>(KEY)) ?? [];
      const after = decide(before)
        .map(living)
        .filter(({ stories }) => stories.length > 0);
      const stays = new Set(after.flatMap(({ stories }) => stories).map(pictureOf));
      const gone = before.flatMap(({ stories }) => stories).map(pictureOf);
      offline.discard(gone.filter((address) => !stays.has(address)));
      if (before.length + after.length > 0) await offline.keep(KEY, after);
    });
    this.#last = work.catch(() => {}); // Storage that fails costs a look back, nothing else.
    return work;
  }
}

export const kept = new KeptStories();
