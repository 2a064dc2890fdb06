-- What the service remembers. Definitions are kept as the APIs give and take them.
CREATE TABLE glue_database (
    name text PRIMARY KEY,
    definition jsonb NOT NULL,
    created timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE glue_table (
    database text NOT NULL REFERENCES glue_database ON DELETE CASCADE,
    name text NOT NULL,
    version int NOT NULL DEFAULT 0,
    definition jsonb NOT NULL,
    created timestamptz NOT NULL DEFAULT now(),
    updated timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (database, name)
);
CREATE TABLE glue_table_version (
    database text NOT NULL,
    name text NOT NULL,
    version int NOT NULL,
    definition jsonb NOT NULL,
    updated timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (database, name, version),
    FOREIGN KEY (database, name) REFERENCES glue_table ON DELETE CASCADE
);
CREATE TABLE glue_partition (
    database text NOT NULL,
    name text NOT NULL,
    partition_values text[] NOT NULL,
    definition jsonb NOT NULL,
    created timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (database, name, partition_values),
    FOREIGN KEY (database, name) REFERENCES glue_table ON DELETE CASCADE
);
CREATE TABLE workgroup (
    name text PRIMARY KEY,
    definition jsonb NOT NULL,
    created timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE named_query (
    id text PRIMARY KEY,
    workgroup text NOT NULL REFERENCES workgroup ON DELETE CASCADE,
    token text UNIQUE,
    definition jsonb NOT NULL,
    created timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE prepared_statement (
    workgroup text NOT NULL REFERENCES workgroup ON DELETE CASCADE,
    name text NOT NULL,
    statement text NOT NULL,
    description text,
    modified timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workgroup, name)
);
CREATE TABLE execution (
    id text PRIMARY KEY,
    number bigint GENERATED ALWAYS AS IDENTITY,
    workgroup text NOT NULL,
    token text UNIQUE,
    request jsonb NOT NULL,
    state text NOT NULL,
    reason text,
    kind text NOT NULL,
    substatement text NOT NULL,
    location text,
    columns jsonb,
    statistics jsonb NOT NULL DEFAULT '{}',
    error jsonb,
    update_count bigint,
    submitted timestamptz NOT NULL DEFAULT now(),
    completed timestamptz
);
CREATE INDEX execution_by_workgroup ON execution (workgroup, number DESC);
CREATE TABLE tag (
    arn text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (arn, key)
);
INSERT INTO glue_database (name, definition)
VALUES ('default', '{"Name": "default", "Description": "Default database"}');
