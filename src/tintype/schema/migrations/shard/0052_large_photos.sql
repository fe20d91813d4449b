-- What photos are shown large with: the edit that was applied to an upload (NULL: none), and the width of the largest
-- rendition that may be made of its original, 0 where none may. NULL there: a video, or stored by an earlier release,
-- which did not store the edit. And whether others may download what an account posts.
ALTER TABLE media ADD COLUMN edit text, ADD COLUMN large_width integer;
ALTER TABLE accounts ADD COLUMN allows_downloads boolean DEFAULT false NOT NULL;
