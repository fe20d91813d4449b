-- Events wait here, in the transaction that caused them, for the relay.
CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject text NOT NULL,
    body jsonb NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now()
);
