-- A follow of a private account waits as a request, in the same row and in the same order of changes.
ALTER TABLE following ADD COLUMN is_requested boolean NOT NULL DEFAULT false;
ALTER TABLE followers ADD COLUMN is_requested boolean NOT NULL DEFAULT false;

-- The newest block whose severing of follows has been carried out on the blocked side.
ALTER TABLE blocked_by ADD COLUMN severed_id bigint NOT NULL DEFAULT 0;
