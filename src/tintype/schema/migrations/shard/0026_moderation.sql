-- What was reported and what came of it. A case, its reports and the acts of moderators lie together on one of a few
-- desks (shards that the keys "moderation-desk-0" … hash to), so that the queue is read without asking every shard.
CREATE TABLE moderation_cases (
    id bigint PRIMARY KEY DEFAULT next_id(),
    kind text NOT NULL, -- account, post, comment
    object_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    evidence text NOT NULL, -- JSON: how it looked when it was first reported
    status text NOT NULL DEFAULT 'open', -- open, closed
    opened_id bigint NOT NULL DEFAULT next_id(), -- the order of the queue; renewed when it is opened again
    report_count integer NOT NULL DEFAULT 0, -- since it was opened
    object_state text NOT NULL DEFAULT 'visible', -- what shall be true: visible, hidden, deleted, suspended
    outcome text NOT NULL DEFAULT '',
    outcome_id bigint, -- the act that decided it last
    claimed_by bigint,
    claimed_until timestamptz,
    appeal text NOT NULL DEFAULT '',
    appealed_id bigint -- the decision that was appealed against: once each
);

CREATE UNIQUE INDEX moderation_cases_once ON moderation_cases (kind, object_id);
CREATE INDEX moderation_cases_by_age ON moderation_cases (status, opened_id);
CREATE INDEX moderation_cases_by_reports ON moderation_cases (status, report_count DESC, opened_id);

CREATE TABLE reports (
    case_id bigint NOT NULL,
    reporter_id bigint NOT NULL, -- negative when the reporter has left
    reason text NOT NULL,
    note text NOT NULL DEFAULT '',
    reported_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (case_id, reporter_id)
);

-- Written once, never changed.
CREATE TABLE moderation_acts (
    id bigint PRIMARY KEY DEFAULT next_id(),
    case_id bigint NOT NULL,
    moderator_id bigint NOT NULL,
    action text NOT NULL,
    reason text NOT NULL,
    before text NOT NULL, -- JSON
    after text NOT NULL -- JSON
);

CREATE INDEX moderation_acts_of_case ON moderation_acts (case_id, id);
CREATE INDEX moderation_acts_of_moderator ON moderation_acts (moderator_id, id);
