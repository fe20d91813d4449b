/** What the first screen does not need. */
export { default as AuthorFollow } from "./AuthorFollow.svelte";
export { default as SuggestionList } from "./SuggestionList.svelte";
export { Suggestions } from "./suggestions.svelte";
