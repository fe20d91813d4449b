-- Stories are composed: texts, drawings and stickers lie over the picture as elements (JSON). What a viewer does with a
-- sticker is kept with the view of the story, and ends with it: the choice in a poll, the answer to a question.
ALTER TABLE stories ADD COLUMN elements text DEFAULT '[]' NOT NULL, ADD COLUMN poll_counts integer[];
ALTER TABLE story_views ADD COLUMN choice smallint, ADD COLUMN answer text;
ALTER TABLE highlight_items ADD COLUMN elements text DEFAULT '[]' NOT NULL, ADD COLUMN poll_counts integer[];

-- Countdowns of stories, with the author. They may end after their story, so they lie outside of its partition.
CREATE TABLE story_countdowns (
    story_id bigint NOT NULL PRIMARY KEY,
    author_id bigint NOT NULL,
    title text NOT NULL,
    ends_at timestamptz NOT NULL
);

CREATE INDEX story_countdowns_of_author ON story_countdowns (author_id);

-- Who wants to be notified at the end of a countdown, with the one who wants it.
CREATE TABLE story_reminders (
    account_id bigint NOT NULL,
    story_id bigint NOT NULL,
    ends_at timestamptz NOT NULL,
    notified_at timestamptz,
    PRIMARY KEY (account_id, story_id)
);

CREATE INDEX story_reminders_due ON story_reminders (ends_at) WHERE notified_at IS NULL;

-- Whether others may show the account's posts in their stories.
ALTER TABLE accounts ADD COLUMN allows_story_shares boolean DEFAULT true NOT NULL;
