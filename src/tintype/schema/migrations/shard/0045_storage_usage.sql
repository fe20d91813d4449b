-- What each person stores, against a quota, and how much video was converted for them on a day.
ALTER TABLE media ADD COLUMN size_bytes bigint; -- of all its files; NULL: not measured yet

CREATE TABLE storage_usage (
    account_id bigint PRIMARY KEY,
    used_bytes bigint NOT NULL DEFAULT 0, -- the sum of media.size_bytes, except of deleted media
    quota_bytes bigint, -- instead of the setting; 0: no quota
    video_day date, -- UTC
    video_ms bigint NOT NULL DEFAULT 0 -- on that day
);
