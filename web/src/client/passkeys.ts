/** Passkeys: the browser translates between the server's JSON and its own types. */

/** Whether this browser can use passkeys, and speaks JSON about them. */
export function knowsPasskeys(): boolean {
  return typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** What a passkey of this site answers to the server's question. */
export async function askPasskey(question: Record<string, unknown>): Promise<object> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    question as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return asJson(await navigator.credentials.get({ publicKey }));
}

/** A new passkey, as the server wants to hear of it. */
export async function makePasskey(question: Record<string, unknown>): Promise<object> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    question as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  return asJson(await navigator.credentials.create({ publicKey }));
}

function asJson(credential: Credential | null): object {
  if (!(credential instanceof PublicKeyCredential)) throw new DOMException("No passkey.", "NotAllowedError");
  return credential.toJSON() as object;
}
