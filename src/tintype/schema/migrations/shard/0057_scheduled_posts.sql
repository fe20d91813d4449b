-- Posts that are published later, on their author's shard. A scheduled post is no row of `posts`: nothing that lists posts can
-- show it, and it gets its id, and with it its time, when it is published.
CREATE TABLE scheduled_posts (
    id bigint NOT NULL PRIMARY KEY DEFAULT next_id(),
    author_id bigint NOT NULL,
    publish_at timestamptz NOT NULL,
    due_at timestamptz,
    problem text,
    draft text NOT NULL,
    media_ids bigint[] NOT NULL,
    change_id bigint NOT NULL DEFAULT next_id(),
    idempotency_key text,
    body_hash bytea NOT NULL
);

CREATE INDEX scheduled_posts_of ON scheduled_posts (author_id, publish_at, id);

CREATE INDEX scheduled_posts_due ON scheduled_posts (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX scheduled_posts_held ON scheduled_posts (publish_at) WHERE due_at IS NULL;

CREATE UNIQUE INDEX scheduled_posts_once ON scheduled_posts (author_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
