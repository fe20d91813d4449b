/** What pages of other rooms show of moderation, and load on demand. */
export { default as DecisionList } from "./DecisionList.svelte";
