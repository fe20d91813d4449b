-- Devices that somebody has signed in with before: a keyed hash of device name and network. Others are told of by mail.
CREATE TABLE known_devices (
    account_id bigint NOT NULL,
    fingerprint bytea NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, fingerprint)
);

CREATE INDEX known_devices_unused ON known_devices (last_seen_at);
