-- Newcomers: links that invite people, who joined by one, the hashtags a person follows; and the words of captions.

-- On the shard of the account that invites; the id of a link names that shard.
CREATE TABLE invitations (
    id bigint NOT NULL PRIMARY KEY DEFAULT next_id(),
    account_id bigint NOT NULL,
    secret text NOT NULL,
    max_uses integer NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz
);

CREATE INDEX invitations_of ON invitations (account_id, id);

-- With the account that invited: one row per use of a link, confirmed once the new account exists.
CREATE TABLE invitees (
    account_id bigint NOT NULL,
    invitee_id bigint NOT NULL,
    invitation_id bigint NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now(),
    is_confirmed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (account_id, invitee_id)
);

CREATE INDEX invitees_of_invitation ON invitees (invitation_id);

-- With the account that joined.
CREATE TABLE invited_by (
    account_id bigint NOT NULL PRIMARY KEY,
    inviter_id bigint NOT NULL
);

-- With the account that follows.
CREATE TABLE followed_tags (
    account_id bigint NOT NULL,
    tag text NOT NULL,
    change_id bigint NOT NULL DEFAULT next_id(),
    PRIMARY KEY (account_id, tag)
);

-- The words of public captions, on the shard that the word hashes to; `words` has all words of the caption.
CREATE TABLE caption_words (
    word text NOT NULL,
    post_id bigint NOT NULL,
    words text NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (word, post_id)
);
