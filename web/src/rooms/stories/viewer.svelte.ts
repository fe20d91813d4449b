/** Going through stories: one after the other, one person after the other, with the next ones already on their way. */
import { type Reaction, type Story, stories } from "../../client/stories";
import { kept, pictureOf } from "./kept";
import { type Sheaf, tray } from "./tray.svelte";

const SHOWN_MS = 6_000;
const TICK_MS = 100;
/** How many people ahead are loaded. */
const AHEAD = 2;

export class Viewer {
  sheaf = $state.raw<Sheaf | null>(null);
  index = $state.raw(0);
  /** How much of the present one has been shown, 0 to 1. */
  share = $state.raw(0);
  failure = $state.raw<unknown>(null);
  /** By the reader, or because something else has their attention. */
  isPaused = $state.raw(false);
  isHeld = $state.raw(false);
  /** Its picture has not arrived: the time to look at it has not begun. */
  isArriving = $state.raw(false);
  readonly story = $derived(this.sheaf?.stories[this.index] ?? null);
  reactions = $state.raw<Readonly<Record<string, Reaction | null>>>({});

  readonly #onend: () => void;
  #people: readonly string[] = [];
  readonly #told = new Set<string>();
  #turn = 0;

  constructor(onend: () => void) {
    this.#onend = onend;
  }

  /** Begins with this person; afterwards come those who stand behind them in the tray. */
  async open(accountId: string): Promise<void> {
    const order = tray.rings.map(({ user_id }) => user_id);
    this.#people = order.includes(accountId) ? order : [accountId];
    await this.#show(accountId, "unseen");
  }

  /** These alone: a highlight. */
  openSheaf(sheaf: Sheaf, index = 0): void {
    this.#people = [sheaf.accountId];
    this.sheaf = sheaf;
    this.#turnTo(Math.min(index, Math.max(0, sheaf.stories.length - 1)));
  }

  next(): void {
    if (this.sheaf !== null && this.index + 1 < this.sheaf.stories.length) this.#turnTo(this.index + 1);
    else this.nextPerson();
  }

  previous(): void {
    if (this.index > 0) this.#turnTo(this.index - 1);
    else if (this.#neighbour(-1) !== null) this.previousPerson();
    else this.#turnTo(0);
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

  /** Counts time while something is shown; made for `$effect`. A clip tells its own. */
  run(): () => void {
    const timer = setInterval(() => {
      if (this.isPaused || this.isHeld || this.isArriving || this.story === null || this.#isClip(this.story))
        return;
      this.progress(this.share + TICK_MS / SHOWN_MS);
    }, TICK_MS);
    return () => clearInterval(timer);
  }

  progress(share: number): void {
    this.share = Math.min(1, share);
    if (share >= 1) this.next();
  }

  /** The present one is gone: the next takes its place. */
  drop(storyId: string): void {
    if (this.sheaf === null) return;
    const left = this.sheaf.stories.filter(({ story_id }) => story_id !== storyId);
    if (left.length === 0) this.nextPerson();
    else {
      this.sheaf = { ...this.sheaf, stories: left };
      this.#turnTo(Math.min(this.index, left.length - 1));
    }
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

  #isClip(story: Story): boolean {
    return story.media_type === "video" && (story.media.video_url ?? story.media.hls_url) !== null;
  }

  async #show(accountId: string, from: "unseen" | "last"): Promise<void> {
    const turn = ++this.#turn;
    this.failure = null;
    try {
      const sheaf = await tray.sheafOf(accountId);
      if (turn !== this.#turn) return;
      this.sheaf = sheaf;
      if (sheaf.stories.length === 0) return this.#passOver(accountId);
      const unseen = sheaf.stories.findIndex(({ seen }) => !seen);
      this.#turnTo(from === "last" ? sheaf.stories.length - 1 : Math.max(0, unseen));
      this.#loadAhead();
    } catch (error) {
      if (turn === this.#turn) this.failure = error;
    }
  }

  /** Everything of theirs is over by now. */
  #passOver(accountId: string): void {
    if (this.#people.length > 1 && this.#people.at(-1) !== accountId) this.nextPerson();
    else this.index = 0;
  }

  #turnTo(index: number): void {
    this.index = index;
    this.share = 0;
    this.isArriving = true;
    const story = this.story;
    if (story !== null && this.sheaf?.accountId) void kept.add(this.sheaf, story).catch(() => {});
    if (story === null || story.seen || story.viewer_is_author || this.#told.has(story.story_id)) return;
    this.#told.add(story.story_id);
    tray.noteSeen(story.user_id);
    void stories.markSeen([story.story_id]).catch(() => this.#told.delete(story.story_id));
  }

  #neighbour(by: 1 | -1): string | null {
    const here = this.#people.indexOf(this.sheaf?.accountId ?? "");
    return here < 0 ? null : (this.#people[here + by] ?? null);
  }

  #loadAhead(): void {
    const here = this.#people.indexOf(this.sheaf?.accountId ?? "");
    for (const accountId of this.#people.slice(here + 1, here + 1 + AHEAD)) {
      void tray.sheafOf(accountId).then(preload, () => {});
    }
  }
}

/** The first picture that will be seen of theirs, and the one after it. */
function preload({ stories: all }: Sheaf): void {
  const first = Math.max(
    0,
    all.findIndex(({ seen }) => !seen),
  );
  for (const story of all.slice(first, first + 2)) new Image().src = pictureOf(story);
}
