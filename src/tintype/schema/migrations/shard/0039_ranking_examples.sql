-- What some viewers were shown, with the features as served, and what came of it; with the viewer, for some weeks.
CREATE TABLE ranking_examples (
    account_id bigint NOT NULL,
    post_id bigint NOT NULL,
    expires_on date NOT NULL,
    weights text NOT NULL DEFAULT '', -- their version
    arm text NOT NULL DEFAULT '',
    features bytea, -- halves of floats in the order of ranking.scorer.FEATURES; null until the post was seen
    score real,
    spent_ms integer NOT NULL DEFAULT 0,
    liked bigint NOT NULL DEFAULT 0, -- the newest change: above nothing while it stands, below when it was taken back
    commented bigint NOT NULL DEFAULT 0,
    saved bigint NOT NULL DEFAULT 0,
    shared bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, post_id)
);

CREATE INDEX ranking_examples_expiring ON ranking_examples (expires_on);
