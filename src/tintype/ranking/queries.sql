-- name: store_examples
-- The features of the first impression stay, the longest time spent counts. An erased account gets no rows again.
INSERT INTO ranking_examples (account_id, post_id, expires_on, weights, arm, features, score, spent_ms)
SELECT a.id, seen.post_id, current_date + :days::int, seen.weights, seen.arm, seen.features, seen.score, seen.spent_ms
FROM accounts AS a
CROSS JOIN unnest(:post_ids::bigint[], :spent_ms::int[], :weights::text[], :arms::text[], :features::bytea[], :scores::real[])
     AS seen (post_id, spent_ms, weights, arm, features, score)
WHERE a.id = :account_id AND a.status <> 'gone'
ON CONFLICT (account_id, post_id) DO UPDATE
SET spent_ms = greatest(ranking_examples.spent_ms, excluded.spent_ms),
    expires_on = CASE WHEN ranking_examples.features IS NULL THEN excluded.expires_on ELSE ranking_examples.expires_on END,
    weights = CASE WHEN ranking_examples.features IS NULL THEN excluded.weights ELSE ranking_examples.weights END,
    arm = CASE WHEN ranking_examples.features IS NULL THEN excluded.arm ELSE ranking_examples.arm END,
    score = CASE WHEN ranking_examples.features IS NULL THEN excluded.score ELSE ranking_examples.score END,
    features = coalesce(ranking_examples.features, excluded.features);

-- name: record_outcome hot
-- An outcome is the id of its newest change: positive while it holds, negative when it was undone. One that comes before
-- its impression waits some days for it.
INSERT INTO ranking_examples (account_id, post_id, expires_on, liked, commented, saved, shared)
SELECT a.id, :post_id, current_date + :days::int, :liked, :commented, :saved, :shared
FROM accounts AS a WHERE a.id = :account_id AND a.status <> 'gone'
ON CONFLICT (account_id, post_id) DO UPDATE
SET liked = CASE WHEN abs(excluded.liked) > abs(ranking_examples.liked) THEN excluded.liked ELSE ranking_examples.liked END,
    commented = CASE WHEN abs(excluded.commented) > abs(ranking_examples.commented)
                     THEN excluded.commented ELSE ranking_examples.commented END,
    saved = CASE WHEN abs(excluded.saved) > abs(ranking_examples.saved) THEN excluded.saved ELSE ranking_examples.saved END,
    shared = CASE WHEN abs(excluded.shared) > abs(ranking_examples.shared)
                  THEN excluded.shared ELSE ranking_examples.shared END;

-- name: page_examples
-- Complete examples only: those that were served and seen.
SELECT account_id, post_id, weights, arm, features, score, spent_ms, liked, commented, saved, shared
FROM ranking_examples
WHERE features IS NOT NULL AND (account_id, post_id) > (:after_account::bigint, :after_post::bigint)
ORDER BY account_id, post_id LIMIT :limit;

-- name: page_own_examples
-- The examples of one person, for an export.
SELECT post_id, expires_on, weights, arm, score, spent_ms, liked, commented, saved, shared
FROM ranking_examples WHERE account_id = :account_id AND post_id > :after ORDER BY post_id LIMIT :limit;

-- name: sweep_examples
-- Deletes expired examples, a batch at a time.
DELETE FROM ranking_examples WHERE (account_id, post_id) IN (
    SELECT account_id, post_id FROM ranking_examples WHERE expires_on < current_date ORDER BY expires_on LIMIT :limit
);

-- name: erase_examples
-- Part of the erasure of an account, a batch at a time.
DELETE FROM ranking_examples WHERE account_id = :account_id AND post_id IN (
    SELECT post_id FROM ranking_examples WHERE account_id = :account_id LIMIT :limit
);

-- name: count_examples_left
-- How many examples of an account are left to erase.
SELECT count(*) FROM ranking_examples WHERE account_id = :account_id;
