/** Ways in which encryption says no, shown like the server's refusals. */
import { Problem } from "../../../client/problem";

export type EncryptionErrorCode =
  | "malformed"
  | "not_in_group"
  | "tree_mismatch"
  | "key_missing"
  | "wrong_passphrase"
  | "no_backup"
  | "no_device"
  | "cannot_commit";

export class EncryptionError extends Problem {
  constructor(code: EncryptionErrorCode) {
    super({ status: 422, code });
    this.name = "EncryptionError";
  }
}
