/** Publishing in the background, and what shows its progress. Loaded after the first paint. */
export { drafts } from "../create/drafts.svelte";
export { type Job, publisher } from "./publisher.svelte";
