/** Opens the dialog that sends a post or story to people. Any room may call it; the app shell loads and shows it. */

export interface SendTarget {
  readonly kind: "post" | "story";
  readonly id: string;
  readonly onclose?: () => void;
}

class SendDialogState {
  target = $state.raw<SendTarget | null>(null);

  open(target: SendTarget): void {
    this.target = target;
  }

  close(): void {
    this.target?.onclose?.();
    this.target = null;
  }
}

export const sendDialog = new SendDialogState();
