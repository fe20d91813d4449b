ALTER TABLE accounts ADD CONSTRAINT mood_set NOT NULL mood NOT VALID;
ALTER TABLE posts ADD CONSTRAINT caption_short CHECK (length(caption) < 70) NOT VALID;
ALTER TABLE likes ADD COLUMN made_at timestamptz NOT NULL DEFAULT now();
