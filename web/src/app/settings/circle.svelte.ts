/** The people of one circle, page by page. */
import { type Circle, type CirclePerson, listCircle, takeIn, takeOut } from "../../client/circles";

export class CircleList {
  people = $state.raw<readonly CirclePerson[]>([]);
  status = $state.raw<"loading" | "ready" | "failed">("loading");
  failure = $state.raw<unknown>(null);
  cursor = $state.raw<string | null>(null);
  readonly #circle: Circle;

  constructor(circle: Circle) {
    this.#circle = circle;
  }

  async load(): Promise<void> {
    this.status = "loading";
    try {
      const page = await listCircle(this.#circle, this.cursor);
      const known = new Set(this.people.map(({ account_id }) => account_id));
      this.people = [...this.people, ...page.people.filter(({ account_id }) => !known.has(account_id))];
      this.cursor = page.next_cursor;
      this.status = "ready";
    } catch (error) {
      this.failure = error;
      this.status = "failed";
    }
  }

  async takeOut(accountId: string): Promise<void> {
    await takeOut(this.#circle, accountId);
    this.people = this.people.filter(({ account_id }) => account_id !== accountId);
  }

  /** In, and the list asked for again: it knows more of them than a search does. */
  async takeIn(accountId: string): Promise<void> {
    await takeIn(this.#circle, accountId);
    this.people = [];
    this.cursor = null;
    await this.load();
  }
}
