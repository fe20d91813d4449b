CREATE VIEW z_posts AS SELECT p.id, p.teaser, a.username FROM posts p JOIN accounts a ON a.id = p.account_id;
CREATE VIEW a_summary AS SELECT id FROM z_posts;
CREATE STATISTICS posts_together (dependencies) ON account_id, caption FROM posts;
