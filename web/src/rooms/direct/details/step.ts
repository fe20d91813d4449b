/** Which dialog of a thread's details is open. */
export type Step =
  | "list"
  | "mute"
  | "lifetime"
  | "members"
  | "add"
  | "rename"
  | "photo"
  | "safety"
  | "leave"
  | "block";
