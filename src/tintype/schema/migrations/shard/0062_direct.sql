-- Direct messages: threads with their members and messages on the shard of the thread; each person's inbox with the person.
CREATE TABLE threads (
    id bigint NOT NULL PRIMARY KEY DEFAULT next_id(),
    kind text NOT NULL, -- pair, group
    low_id bigint, -- the two people of a pair, the smaller account id first; null for one whose account was erased
    high_id bigint,
    name text NOT NULL DEFAULT '',
    photo_id bigint,
    created_by bigint NOT NULL,
    local_id text, -- the creator's own id of a group, so that creating it again finds it
    pending_id bigint, -- whoever of a pair has not accepted it yet
    low_blocks boolean NOT NULL DEFAULT false, -- mirror of the blocks between a pair; each with the newest change known
    low_block_id bigint NOT NULL DEFAULT 0,
    high_blocks boolean NOT NULL DEFAULT false,
    high_block_id bigint NOT NULL DEFAULT 0,
    disappear_s integer, -- how long after they were sent messages disappear; null: they stay
    last_number bigint NOT NULL DEFAULT 0, -- messages are numbered: a member's unread ones are those after the last one seen
    last_id bigint NOT NULL DEFAULT 0,
    change_id bigint NOT NULL DEFAULT next_id() -- the newest change of anything but messages
);

CREATE UNIQUE INDEX threads_of_pair ON threads (low_id, high_id, kind);
CREATE UNIQUE INDEX threads_created_once ON threads (created_by, local_id);

CREATE TABLE thread_members (
    thread_id bigint NOT NULL,
    account_id bigint NOT NULL,
    state text NOT NULL, -- active, requested, declined, left, removed
    is_admin boolean NOT NULL DEFAULT false,
    joined_number bigint NOT NULL, -- what was written before is not theirs to read
    seen_number bigint NOT NULL,
    seen_at timestamptz,
    change_id bigint NOT NULL DEFAULT next_id(),
    PRIMARY KEY (thread_id, account_id)
);

CREATE TABLE messages (
    thread_id bigint NOT NULL,
    id bigint NOT NULL DEFAULT next_id(),
    number bigint NOT NULL,
    account_id bigint NOT NULL, -- 0: of somebody whose account was erased
    kind text NOT NULL, -- text, media, post, story, story_reply, unsent
    text text NOT NULL,
    reply_to_id bigint,
    media_id bigint,
    shared_id bigint, -- the post or story
    edited_at timestamptz,
    expires_at timestamptz,
    change_id bigint NOT NULL DEFAULT 0, -- the newest edit or reaction, or that it was unsent
    PRIMARY KEY (thread_id, id)
);

CREATE INDEX messages_of_author ON messages (thread_id, account_id, id);
CREATE INDEX messages_by_id ON messages (id); -- for reports, which name a message alone
CREATE INDEX messages_expiring ON messages (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE message_reactions (
    thread_id bigint NOT NULL,
    message_id bigint NOT NULL,
    account_id bigint NOT NULL,
    emoji text NOT NULL,
    PRIMARY KEY (thread_id, message_id, account_id)
);

CREATE INDEX message_reactions_of_account ON message_reactions (thread_id, account_id);

-- The words of messages, for searches in a thread.
CREATE TABLE message_words (
    thread_id bigint NOT NULL,
    word text NOT NULL,
    message_id bigint NOT NULL,
    PRIMARY KEY (thread_id, word, message_id)
);

CREATE INDEX message_words_of_message ON message_words (thread_id, message_id);

-- How far each device has come in a thread: its changes are accepted in the order of its own count.
CREATE TABLE thread_devices (
    thread_id bigint NOT NULL,
    account_id bigint NOT NULL,
    device_id text NOT NULL,
    counter bigint NOT NULL,
    PRIMARY KEY (thread_id, account_id, device_id)
);

-- Every change that a device made, by the id it gave it, and what became of it: the answer when it is sent again.
CREATE TABLE thread_mutations (
    thread_id bigint NOT NULL,
    account_id bigint NOT NULL,
    local_id text NOT NULL,
    message_id bigint NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (thread_id, account_id, local_id)
);

-- With the person: the threads they are or were in.
CREATE TABLE inbox (
    account_id bigint NOT NULL,
    thread_id bigint NOT NULL,
    state text NOT NULL, -- as in thread_members
    is_blocked boolean NOT NULL,
    change_id bigint NOT NULL, -- of the thread, when state and is_blocked were read
    last_id bigint NOT NULL, -- the order of the list: the last message
    last_number bigint NOT NULL,
    seen_number bigint NOT NULL,
    pushed_number bigint NOT NULL DEFAULT 0, -- the last message that browsers were told of
    is_archived boolean NOT NULL DEFAULT false,
    muted_until timestamptz,
    PRIMARY KEY (account_id, thread_id)
);

CREATE INDEX inbox_in_order ON inbox (account_id, state, is_archived, last_id DESC);

-- With the person: who may write to them at all, and what notifications of messages show.
CREATE TABLE direct_settings (
    account_id bigint NOT NULL PRIMARY KEY,
    audience text NOT NULL, -- everyone, following, nobody
    preview text NOT NULL -- text, name, nothing
);

-- With the sender: photos and videos in messages, attached under the local id of a message before it is sent.
CREATE TABLE message_media (
    media_id bigint NOT NULL PRIMARY KEY,
    account_id bigint NOT NULL,
    thread_id bigint NOT NULL,
    local_id text NOT NULL,
    is_sent boolean NOT NULL DEFAULT false,
    attached_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX message_media_of_account ON message_media (account_id, media_id);
CREATE INDEX message_media_unconfirmed ON message_media (attached_at) WHERE NOT is_sent;
