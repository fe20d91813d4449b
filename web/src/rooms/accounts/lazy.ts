/** Exports of the accounts room that load with the pages that use them, so that the initial bundle stays small. */
export { passkeyErrorMessage } from "./passkeyError";
export { default as ReauthenticationDialog } from "./ReauthenticationDialog.svelte";
export { reauthentication } from "./reauthentication.svelte";
export { default as UsernameField } from "./UsernameField.svelte";
export { checkNewPassword } from "./validation";
