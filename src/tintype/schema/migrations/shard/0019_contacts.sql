-- How somebody can be reached. An email counts once it was confirmed; until then it is only pending.
ALTER TABLE accounts
    ADD COLUMN email text,
    ADD COLUMN pending_email text,
    ADD COLUMN phone text,
    ADD COLUMN password_changed_at timestamptz;
