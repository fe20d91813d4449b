/** Short notices at the edge of the screen. Failures stay longer: they usually ask for something. */

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isFailure: boolean;
}

const SHOWN_MS = 4_000;
const FAILURE_SHOWN_MS = 9_000;
const MOST = 3;

class Toasts {
  list = $state.raw<readonly Toast[]>([]);
  #next = 1;

  say(text: string): void {
    this.#add(text, false, SHOWN_MS);
  }

  fail(text: string): void {
    this.#add(text, true, FAILURE_SHOWN_MS);
  }

  dismiss(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  #add(text: string, isFailure: boolean, shown_ms: number): void {
    const id = this.#next++;
    const others = this.list.filter((toast) => toast.text !== text);
    this.list = [...others, { id, text, isFailure }].slice(-MOST);
    setTimeout(() => this.dismiss(id), shown_ms);
  }
}

export const toasts = new Toasts();
