/** WebAuthn: converts between the server's JSON and the browser's credential types. */

/** Whether this browser supports passkeys and the JSON form of their options. */
export function supportsPasskeys(): boolean {
  return typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** Asks the user for a passkey; resolves to the assertion for the server. */
export async function getPasskeyAssertion(options: Record<string, unknown>): Promise<object> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return asJson(await navigator.credentials.get({ publicKey }));
}

/** Creates a passkey; resolves to its attestation for the server. */
export async function createPasskey(options: Record<string, unknown>): Promise<object> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  return asJson(await navigator.credentials.create({ publicKey }));
}

function asJson(credential: Credential | null): object {
  if (!(credential instanceof PublicKeyCredential)) throw new DOMException("No passkey.", "NotAllowedError");
  return credential.toJSON() as object;
}
