/** The second door of the accounts room: what arrives with the pages that use it, so that the first stays light. */
export { checkNewPassword } from "./checks";
export { default as ProofPrompt } from "./ProofPrompt.svelte";
export { explainPasskey } from "./passkeyFailure";
export { proving } from "./proving.svelte";
export { default as UsernameField } from "./UsernameField.svelte";
