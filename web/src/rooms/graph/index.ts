/** The graph room: who follows whom. */
export { default as FollowButton } from "./FollowButton.svelte";
export { type Stance, Standing } from "./follow.svelte";
export { default as PeopleSkeleton } from "./PeopleSkeleton.svelte";
export { default as PersonRow } from "./PersonRow.svelte";
export { default as RequestedBy } from "./RequestedBy.svelte";
