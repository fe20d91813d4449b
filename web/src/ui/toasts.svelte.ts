/** Toast messages. Errors stay longer, because they usually require an action. */

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isError: boolean;
}

const SHOWN_MS = 4_000;
const ERROR_SHOWN_MS = 9_000;
const MAX_TOASTS = 3;

class Toasts {
  list = $state.raw<readonly Toast[]>([]);
  #next = 1;

  info(text: string): void {
    this.#add(text, false, SHOWN_MS);
  }

  error(text: string): void {
    this.#add(text, true, ERROR_SHOWN_MS);
  }

  dismiss(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  #add(text: string, isError: boolean, shown_ms: number): void {
    const id = this.#next++;
    const others = this.list.filter((toast) => toast.text !== text);
    this.list = [...others, { id, text, isError }].slice(-MAX_TOASTS);
    setTimeout(() => this.dismiss(id), shown_ms);
  }
}

export const toasts = new Toasts();
