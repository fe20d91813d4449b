-- Whether its owner keeps a public account out of link previews, embeds, sitemaps and search engines.
ALTER TABLE accounts ADD COLUMN is_unlisted boolean DEFAULT false NOT NULL;
