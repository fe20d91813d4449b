-- What a mail tells beyond its kind, such as the device of a new sign-in.
ALTER TABLE mails ADD COLUMN detail text NOT NULL DEFAULT '';
