-- A place lives where its id hashes to; the map square it lies in points to it, for "nearby".
CREATE TABLE places (
    id text PRIMARY KEY,
    name text NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE place_squares (
    square text NOT NULL,
    place_id text NOT NULL,
    name text NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    PRIMARY KEY (square, place_id)
);
