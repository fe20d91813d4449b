-- Camera, lens and exposure: of a photo as JSON, without its location; shown with posts whose authors want that, which the account
-- says for those that do not say.
ALTER TABLE media ADD COLUMN camera text;

ALTER TABLE posts ADD COLUMN shows_camera boolean DEFAULT false NOT NULL;

ALTER TABLE accounts ADD COLUMN shows_camera boolean DEFAULT false NOT NULL;
