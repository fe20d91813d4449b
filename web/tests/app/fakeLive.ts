/** A live connection that tests speak for. */
import { vi } from "vitest";
import type { LiveState, Reply } from "../../src/live";
import { Listeners, ObservableValue } from "../../src/live/observable";

type Told = { readonly name: string; readonly payload: unknown };

export class FakeLive {
  readonly state = new ObservableValue<LiveState>("offline");
  readonly command = vi.fn(async (_kind: string, _payload: object): Promise<Reply> => ({}));
  readonly #updates = new Listeners<Told>();
  readonly #signals = new Listeners<Told>();
  readonly #resets = new Listeners<void>();

  readonly onUpdates = (kinds: readonly string[], handler: (update: object) => void) =>
    this.#updates.add(({ name, payload }) => kinds.includes(name) && handler({ kind: name, payload }));
  readonly onSignal = (topic: string, handler: (signal: unknown) => void) =>
    this.#signals.add(({ name, payload }) => name === topic && handler(payload));
  readonly onReset = (handler: () => void) => this.#resets.add(handler);

  update(name: string, payload: unknown): void {
    this.#updates.emit({ name, payload });
  }

  signal(name: string, payload: unknown): void {
    this.#signals.emit({ name, payload });
  }

  reset(): void {
    this.#resets.emit();
  }
}
