-- A topic is a tag or a place with its public posts, on the shard that its key hashes to.
CREATE TABLE topics (
    topic text PRIMARY KEY, -- tag:sunset, place:k3x…
    post_count bigint NOT NULL DEFAULT 0,
    trimmed_id bigint NOT NULL DEFAULT 0, -- posts up to this one are counted but no longer listed
    changed_at timestamptz NOT NULL DEFAULT now(),
    scored_at timestamptz NOT NULL DEFAULT '-infinity'
);

CREATE INDEX topics_to_score ON topics (changed_at) WHERE scored_at < changed_at;

CREATE TABLE topic_posts (
    topic text NOT NULL,
    post_id bigint NOT NULL,
    author_id bigint NOT NULL,
    score integer NOT NULL DEFAULT 0,
    revision bigint NOT NULL,
    PRIMARY KEY (topic, post_id)
);

CREATE INDEX topic_posts_by_score ON topic_posts (topic, score DESC, post_id DESC);
