/** The graph room: follows and other relations between people. */
export { default as FollowButton } from "./FollowButton.svelte";
export { default as FollowRequestButtons } from "./FollowRequestButtons.svelte";
export { FollowState } from "./followState.svelte";
export { default as PeopleSkeleton } from "./PeopleSkeleton.svelte";
export { default as PersonRow } from "./PersonRow.svelte";
