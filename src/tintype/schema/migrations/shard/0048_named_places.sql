-- Places as a person named them. Others find a place once a public post names it; until then it is its namer's alone.
CREATE TABLE named_places (
    account_id bigint NOT NULL,
    place_id text NOT NULL,
    name text NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    change_id bigint NOT NULL DEFAULT next_id(),
    PRIMARY KEY (account_id, place_id)
);
