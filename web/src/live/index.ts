/** The live package; see README.md. Everything in it loads with the first page that needs it, never with the first screen. */
export type {
  Change,
  ChangeStatus,
  KnownUpdate,
  Live,
  LiveState,
  Mutations,
  Observable,
  PresenceSignal,
  Presences,
  QueuedChange,
  Reply,
  Signals,
  Topic,
  Unsubscribe,
  Update,
  UpdateKind,
  UpdatePayloads,
} from "./contract";
export { pollUnlessOnline } from "./pollUnlessOnline";
export { forgetLive, live, mutations, presence, startLive, stopLive } from "./runtime";
