/** A link to the broker: this tab's own connection, or that of the tab which has one for the whole browser. */

export type LinkState = "connecting" | "online" | "offline";

export interface LinkEvents {
  readonly onState: (state: LinkState) => void;
  /** Something arrived: the last part of its topic, and what it is. */
  readonly onMessage: (leaf: string, content: unknown) => void;
}

export interface Link {
  /** Publishes a command; lost where there is no connection. */
  publish(body: string): void;
  /** The network or the page is back: finds out at once whether the connection still stands. */
  wake(): void;
  /** Ends for good. */
  close(): void;
}
