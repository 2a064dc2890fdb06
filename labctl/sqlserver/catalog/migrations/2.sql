-- Version 1 had no version: only a digest of its SQL, as the schema's comment.
CREATE TABLE mssql.version (foundation integer NOT NULL, definitions text NOT NULL);
COMMENT ON SCHEMA mssql IS NULL;
