/** Values that can be watched, and lists of listeners. */
import type { Observable, Unsubscribe } from "./contract";

export class ObservableValue<T> implements Observable<T> {
  #value: T;
  readonly #watchers = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of [...this.#watchers]) watcher(value);
  }

  subscribe(watcher: (value: T) => void): Unsubscribe {
    // A function of its own each time: the same watcher may subscribe twice.
    const own = (value: T): void => watcher(value);
    this.#watchers.add(own);
    watcher(this.#value);
    return () => this.#watchers.delete(own);
  }
}

export class Listeners<T> {
  readonly #listeners = new Set<(event: T) => void>();

  add(listener: (event: T) => void): Unsubscribe {
    const own = (event: T): void => listener(event);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Calls everyone. A listener that throws is reported as an uncaught error, and keeps nothing from the others. */
  emit(event: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        reportError(error);
      }
    }
  }
}
