-- Imports that people start in the app: the archives they upload, how far the posts are, and the report; all with the account.

CREATE TABLE imports (
    id bigint NOT NULL PRIMARY KEY DEFAULT next_id(),
    account_id bigint NOT NULL,
    source text NOT NULL,
    with_stories boolean NOT NULL,
    state text NOT NULL DEFAULT 'uploading', -- uploading, waiting, running, done, stopped, failed, cancelled
    reason_code text NOT NULL DEFAULT '', -- why it stopped or failed
    reason text NOT NULL DEFAULT '',
    run_key text NOT NULL DEFAULT '', -- names the run whose progress counts
    attempts integer NOT NULL DEFAULT 0, -- since there was progress
    total integer NOT NULL DEFAULT 0,
    known_before integer, -- posts of the archive that had been imported before this import; NULL until that is known
    done integer NOT NULL DEFAULT 0,
    imported integer NOT NULL DEFAULT 0,
    skipped integer NOT NULL DEFAULT 0,
    changed integer NOT NULL DEFAULT 0,
    following_here text[] NOT NULL DEFAULT '{}',
    followers_here text[] NOT NULL DEFAULT '{}',
    touched_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
);

CREATE UNIQUE INDEX imports_one_at_a_time ON imports (account_id) WHERE state IN ('uploading', 'waiting', 'running');
CREATE INDEX imports_of_account ON imports (account_id, id DESC);
CREATE INDEX imports_unfinished ON imports (touched_at) WHERE state IN ('uploading', 'waiting', 'running');
CREATE INDEX imports_ended ON imports (ended_at) WHERE ended_at IS NOT NULL;

-- Files in the object store, each in the parts in which it arrived; gone when the import has ended.
CREATE TABLE import_archives (
    id bigint NOT NULL PRIMARY KEY DEFAULT next_id(),
    import_id bigint NOT NULL,
    account_id bigint NOT NULL,
    name text NOT NULL,
    size_bytes bigint NOT NULL,
    received_bytes bigint NOT NULL DEFAULT 0,
    parts text[] NOT NULL DEFAULT '{}'
);

CREATE INDEX import_archives_of_import ON import_archives (import_id, id);
CREATE INDEX import_archives_of_account ON import_archives (account_id, id);

-- The report: a line for each thing that was left out or changed. A run that is repeated writes no line twice.
CREATE TABLE import_lines (
    import_id bigint NOT NULL,
    id bigint NOT NULL DEFAULT next_id(),
    account_id bigint NOT NULL,
    kind text NOT NULL, -- skipped, changed
    name text NOT NULL,
    code text NOT NULL,
    reason text NOT NULL,
    digest text NOT NULL,
    PRIMARY KEY (import_id, id)
);

CREATE UNIQUE INDEX import_lines_once ON import_lines (import_id, digest);
CREATE INDEX import_lines_of_account ON import_lines (account_id, id);
