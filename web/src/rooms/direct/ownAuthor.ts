import type { Account, Author } from "../../client";

/** The viewer as other people's messages show their authors. */
export function asAuthor(account: Account): Author {
  const { account_id, username, full_name, profile_pic_url, is_verified } = account;
  return { account_id, username, full_name, profile_pic_url, is_verified };
}
