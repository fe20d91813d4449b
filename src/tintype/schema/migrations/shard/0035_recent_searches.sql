-- What somebody looked for lately, with them.
CREATE TABLE recent_searches (
    account_id bigint NOT NULL,
    kind text NOT NULL, -- words, account, tag, place
    subject text NOT NULL,
    id bigint NOT NULL DEFAULT next_id(), -- the time of the last search, and its place in the list
    PRIMARY KEY (account_id, kind, subject)
);

CREATE INDEX recent_searches_by_time ON recent_searches (account_id, id DESC);
