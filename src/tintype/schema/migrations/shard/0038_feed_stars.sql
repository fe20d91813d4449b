-- Authors with so many followers that their posts are merged when a feed is read, instead of being pushed.
CREATE TABLE feed_stars (
    account_id bigint PRIMARY KEY,
    change_id bigint NOT NULL DEFAULT next_id(), -- when it began, or began anew
    is_settled boolean NOT NULL DEFAULT false -- every timeline knows: from now on nothing is pushed
);
