-- Uploaded pictures, with the account that uploaded them; unposted ones expire.
CREATE TABLE media (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL,
    folder text NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    expires_at timestamptz, -- null once it belongs to a post
    post_id bigint
);

CREATE INDEX media_expiring ON media (expires_at) WHERE expires_at IS NOT NULL;
