-- With each person: what they reported, and what of theirs was reported, so that it is found when they leave.
CREATE TABLE moderation_traces (
    account_id bigint NOT NULL,
    part text NOT NULL, -- reporter, owner
    kind text NOT NULL,
    object_id bigint NOT NULL,
    PRIMARY KEY (account_id, part, kind, object_id)
);
