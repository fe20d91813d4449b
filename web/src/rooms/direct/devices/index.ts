/** The settings of encryption: devices and the backup. */
export { default } from "./EncryptionSection.svelte";
