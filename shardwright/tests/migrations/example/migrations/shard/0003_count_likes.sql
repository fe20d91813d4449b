CREATE FUNCTION count_like() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE posts SET likes_count = likes_count + 1 WHERE id = NEW.post_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_like AFTER INSERT ON likes FOR EACH ROW EXECUTE FUNCTION count_like();
CREATE FUNCTION author_of(post posts) RETURNS accounts LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT a FROM accounts a WHERE a.id = post.account_id;
END;
