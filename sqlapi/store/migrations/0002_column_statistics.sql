-- Statistics of columns, as clients report them. Those of a table have no partition values.
CREATE TABLE glue_column_statistics (
    database text NOT NULL,
    name text NOT NULL,
    partition_values text[] NOT NULL,
    column_name text NOT NULL,
    statistics jsonb NOT NULL,
    PRIMARY KEY (database, name, partition_values, column_name),
    FOREIGN KEY (database, name) REFERENCES glue_table ON DELETE CASCADE
);
