/** Playback of stories: one after the other, person by person, with the next ones preloaded. */
import { type Reaction, type Story, stories } from "../../client/stories";
import { session } from "../accounts";
import { imageUrl, storyCache } from "./storyCache";
import { type StoryReel, tray } from "./tray.svelte";

const STORY_MS = 6_000;
const TICK_MS = 100;
/** How many people ahead are preloaded. */
const PRELOADED = 2;

export class StoryPlayback {
  reel = $state.raw<StoryReel | null>(null);
  index = $state.raw(0);
  /** Progress of the current story, 0 to 1. */
  share = $state.raw(0);
  failure = $state.raw<unknown>(null);
  /** Paused by the viewer. */
  isPaused = $state.raw(false);
  /** Paused while a finger rests on it or a dialog is open. */
  isHeld = $state.raw(false);
  /** The image is still loading: its time has not begun. */
  isLoading = $state.raw(false);
  readonly story = $derived(this.reel?.stories[this.index] ?? null);
  reactions = $state.raw<Readonly<Record<string, Reaction | null>>>({});

  readonly #onend: () => void;
  #people: readonly string[] = [];
  readonly #reported = new Set<string>();
  #request = 0;

  constructor(onend: () => void) {
    this.#onend = onend;
  }

  /** Starts with this person, at one of their stories if it is still there, and continues in the tray's order. */
  async open(accountId: string, storyId: string | null = null): Promise<void> {
    const order = tray.rings.map(({ account_id }) => account_id);
    this.#people = order.includes(accountId) ? order : [accountId];
    await this.#show(accountId, "unseen", storyId);
  }

  /** Plays a single reel: a highlight. */
  openReel(reel: StoryReel, index = 0): void {
    this.#people = [reel.accountId];
    this.reel = reel;
    this.#showStory(Math.min(index, Math.max(0, reel.stories.length - 1)));
  }

  next(): void {
    if (this.reel !== null && this.index + 1 < this.reel.stories.length) this.#showStory(this.index + 1);
    else this.nextPerson();
  }

  previous(): void {
    if (this.index > 0) this.#showStory(this.index - 1);
    else if (this.#neighbour(-1) !== null) this.previousPerson();
    else this.#showStory(0);
  }

  /** Whether there is somebody before (-1) or after (1) in the tray. */
  hasPerson(by: 1 | -1): boolean {
    return this.#neighbour(by) !== null;
  }

  nextPerson(): void {
    const next = this.#neighbour(1);
    if (next === null) this.#onend();
    else void this.#show(next, "unseen");
  }

  previousPerson(): void {
    const previous = this.#neighbour(-1);
    if (previous !== null) void this.#show(previous, "last");
  }

  /** Advances the progress of images; made for `$effect`. Videos report their own. */
  run(): () => void {
    const timer = setInterval(() => {
      if (this.isPaused || this.isHeld || this.isLoading || this.story === null || this.#isVideo(this.story))
        return;
      this.progress(this.share + TICK_MS / STORY_MS);
    }, TICK_MS);
    return () => clearInterval(timer);
  }

  progress(share: number): void {
    this.share = Math.min(1, share);
    if (share >= 1) this.next();
  }

  /** Removes a deleted story and shows the next. */
  remove(storyId: string): void {
    if (this.reel === null) return;
    const left = this.reel.stories.filter(({ story_id }) => story_id !== storyId);
    if (left.length === 0) this.nextPerson();
    else {
      this.reel = { ...this.reel, stories: left };
      this.#showStory(Math.min(this.index, left.length - 1));
    }
  }

  /** Changes a story of the reel that is shown, after the viewer did something with it. */
  patch(storyId: string, change: Partial<Story>): void {
    if (this.reel === null) return;
    const stories = this.reel.stories.map((each) =>
      each.story_id === storyId ? { ...each, ...change } : each,
    );
    this.reel = { ...this.reel, stories };
    changes.set(storyId, { ...changes.get(storyId), ...change });
  }

  async react(story: Story, reaction: Reaction | null): Promise<void> {
    const before = this.reactionTo(story);
    this.reactions = { ...this.reactions, [story.story_id]: reaction };
    try {
      await stories.react(story.story_id, reaction);
    } catch (error) {
      this.reactions = { ...this.reactions, [story.story_id]: before };
      throw error;
    }
  }

  reactionTo(story: Story): Reaction | null {
    const known = this.reactions[story.story_id];
    return known === undefined ? story.viewer_reaction : known;
  }

  #isVideo(story: Story): boolean {
    return story.media_type === "video" && (story.media.video_url ?? story.media.hls_url) !== null;
  }

  async #show(accountId: string, from: "unseen" | "last", storyId: string | null = null): Promise<void> {
    const request = ++this.#request;
    this.failure = null;
    try {
      const reel = withChanges(await tray.reelOf(accountId));
      if (request !== this.#request) return;
      this.reel = reel;
      if (reel.stories.length === 0) return this.#skip(accountId);
      const named = reel.stories.findIndex(({ story_id }) => story_id === storyId);
      const unseen = reel.stories.findIndex(({ seen }) => !seen);
      if (named >= 0) this.#showStory(named);
      else this.#showStory(from === "last" ? reel.stories.length - 1 : Math.max(0, unseen));
      this.#loadAhead();
    } catch (error) {
      if (request === this.#request) this.failure = error;
    }
  }

  /** All of their stories have expired: go on to the next person. */
  #skip(accountId: string): void {
    if (this.#people.length > 1 && this.#people.at(-1) !== accountId) this.nextPerson();
    else this.index = 0;
  }

  #showStory(index: number): void {
    this.index = index;
    this.share = 0;
    this.isLoading = true;
    const story = this.story;
    if (story !== null && this.reel?.accountId) void storyCache.add(this.reel, story).catch(() => {});
    if (story === null || story.seen || story.viewer_is_author || this.#reported.has(story.story_id)) return;
    this.#reported.add(story.story_id);
    tray.markSeen(story.account_id);
    void stories.markSeen([story.story_id]).catch(() => this.#reported.delete(story.story_id));
  }

  #neighbour(by: 1 | -1): string | null {
    const here = this.#people.indexOf(this.reel?.accountId ?? "");
    return here < 0 ? null : (this.#people[here + by] ?? null);
  }

  #loadAhead(): void {
    const here = this.#people.indexOf(this.reel?.accountId ?? "");
    for (const accountId of this.#people.slice(here + 1, here + 1 + PRELOADED)) {
      void tray.reelOf(accountId).then(preload, () => {});
    }
  }
}

/** What the viewer did with stories since the tray was loaded, by story: votes, answers, reminders. */
const changes = new Map<string, Partial<Story>>();
session.onChange(() => changes.clear());

/** The reel with what the viewer did. Stories that an earlier release cached on this device have no elements. */
function withChanges(reel: StoryReel): StoryReel {
  const stories = reel.stories.map((each) => ({
    ...each,
    elements: each.elements ?? [],
    ...changes.get(each.story_id),
  }));
  return { ...reel, stories };
}

/** Preloads the first unseen image of a reel and the one after it. */
function preload({ stories: all }: StoryReel): void {
  const first = Math.max(
    0,
    all.findIndex(({ seen }) => !seen),
  );
  for (const story of all.slice(first, first + 2)) new Image().src = imageUrl(story);
}
