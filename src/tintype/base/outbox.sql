-- name: add_events
-- One row per event, in the transaction that makes the events true; `common` is the server's own schema.
INSERT INTO common.outbox (event, payload, request_id)
SELECT item.event, item.payload, :request_id
FROM unnest(:events::text[], :payloads::bytea[]) AS item (event, payload);
