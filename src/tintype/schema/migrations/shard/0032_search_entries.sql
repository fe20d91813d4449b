-- What can be found by typing, under the keys of its words, on the shard that each key hashes to.
CREATE TABLE search_entries (
    key text NOT NULL, -- the kind and the head of the word: people:an
    subject text NOT NULL, -- an account id, a tag, a place id
    term text NOT NULL, -- one word, folded
    words text NOT NULL, -- all words, each after a space
    weight integer NOT NULL, -- how popular, in coarse steps
    detail text NOT NULL DEFAULT '', -- what a result shows and is not read elsewhere, as JSON
    revision bigint NOT NULL,
    PRIMARY KEY (key, subject, term)
);

CREATE INDEX search_entries_by_term ON search_entries (key, term text_pattern_ops);
CREATE INDEX search_entries_by_weight ON search_entries (key, weight DESC);
CREATE INDEX search_entries_alike ON search_entries USING gin (term gin_trgm_ops);

-- Where something has ever been filed, on its own shard: what must be looked through when it changes or goes.
CREATE TABLE search_filings (
    kind text NOT NULL,
    subject text NOT NULL,
    owner_id bigint NOT NULL, -- whose it is; 0 for what is nobody's
    keys text[] NOT NULL DEFAULT '{}',
    weight integer NOT NULL DEFAULT 0,
    revision bigint NOT NULL,
    PRIMARY KEY (kind, subject)
);

CREATE INDEX search_filings_of_owner ON search_filings (owner_id, kind, subject) WHERE owner_id <> 0;
