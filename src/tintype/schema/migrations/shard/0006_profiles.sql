-- What a profile shows beyond a name, whether the account is in use, and what it may do here.
ALTER TABLE accounts
    ADD COLUMN bio text NOT NULL DEFAULT '',
    ADD COLUMN website text NOT NULL DEFAULT '',
    ADD COLUMN avatar_folder text,
    ADD COLUMN status text NOT NULL DEFAULT 'active', -- active, deactivated, suspended, leaving
    ADD COLUMN role text NOT NULL DEFAULT 'person'; -- person, moderator, operator
