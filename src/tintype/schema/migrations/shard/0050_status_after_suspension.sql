-- What its owner chose before or during a suspension (active, deactivated, leaving): the status that the account returns
-- to when the suspension is lifted. NULL: active, or not suspended.
ALTER TABLE accounts ADD COLUMN status_after_suspension text;
