-- Whether somebody shows that they are active, with their account; who has no row does.
CREATE TABLE presence_choices (
    account_id bigint PRIMARY KEY,
    is_shown boolean NOT NULL
);
