/** What was seen, kept to be read without a connection: bounded, and gone when its owner signs out. */
import { type Drawer, type Keyed, openDrawer } from "../base/store";

interface Seen extends Keyed {
  readonly accountId: string;
  readonly value: unknown;
  readonly at_ms: number;
}

const MOST = 400;
/** Sweeping reads everything, so it is done once in a while. */
const SWEEP_EVERY = 50;

export class Memory {
  readonly #drawer: Drawer<Seen>;
  #accountId: string | null = null;
  /** Seen before it was known by whom; null once it is. */
  #early: Map<string, unknown> | null = new Map();
  #puts = 0;

  constructor(drawer: Drawer<Seen> = openDrawer<Seen>("seen")) {
    this.#drawer = drawer;
  }

  /** Nothing of anybody else stays. */
  async belongTo(accountId: string): Promise<void> {
    this.#accountId = accountId;
    const all = await this.#drawer.all();
    await this.#drawer.remove(...all.filter((seen) => seen.accountId !== accountId).map(({ key }) => key));
    const early = this.#early ?? [];
    this.#early = null;
    for (const [key, value] of early) await this.keep(key, value);
  }

  async keep(key: string, value: unknown): Promise<void> {
    if (this.#accountId === null) return void this.#early?.set(key, value);
    await this.#drawer.put({ key, value, accountId: this.#accountId, at_ms: Date.now() });
    this.#puts += 1;
    if (this.#puts % SWEEP_EVERY === 0) await this.#sweep();
  }

  async find<T>(key: string): Promise<T | null> {
    return ((await this.#drawer.get(key))?.value as T | undefined) ?? null;
  }

  async forget(): Promise<void> {
    this.#accountId = null;
    this.#early = null;
    await this.#drawer.clear();
  }

  async #sweep(): Promise<void> {
    const all = (await this.#drawer.all()).sort((a, b) => b.at_ms - a.at_ms);
    await this.#drawer.remove(...all.slice(MOST).map(({ key }) => key));
  }
}
