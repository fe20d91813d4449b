/** The graph room: who follows whom. */
export { default as FollowButton } from "./FollowButton.svelte";
export { FollowedProfile } from "./follow.svelte";
