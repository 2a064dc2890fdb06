-- What this server remembers beside PostgreSQL's own catalog. A change here or in types.sql
-- needs a new FOUNDATION_VERSION in backend/install.py: databases of other versions are refused.

-- Which version this is: of types and tables a number, of functions and views a digest.
CREATE TABLE mssql.version (foundation integer NOT NULL, definitions text NOT NULL);

CREATE TABLE mssql.databases (
    name mssql.nvarchar(128) PRIMARY KEY,
    database_id integer GENERATED ALWAYS AS IDENTITY,
    create_date timestamp NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'),
    allows_snapshot boolean NOT NULL DEFAULT false,
    reads_snapshot boolean NOT NULL DEFAULT false
);
CREATE TABLE mssql.schemas (
    relname name PRIMARY KEY,
    db text NOT NULL,
    name mssql.nvarchar(128) NOT NULL
);
CREATE TABLE mssql.types (
    pg oid PRIMARY KEY,
    name mssql.nvarchar(128) NOT NULL,
    system_type_id integer NOT NULL,
    odbc_type integer NOT NULL,
    bytes integer NOT NULL,
    digits integer NOT NULL,
    scale integer NOT NULL,
    literal_prefix text,
    literal_suffix text
);
INSERT INTO mssql.types VALUES
    ('mssql.bit'::regtype, 'bit', 104, -7, 1, 1, 0, NULL, NULL),
    ('mssql.tinyint'::regtype, 'tinyint', 48, -6, 1, 3, 0, NULL, NULL),
    ('int2'::regtype, 'smallint', 52, 5, 2, 5, 0, NULL, NULL),
    ('int4'::regtype, 'int', 56, 4, 4, 10, 0, NULL, NULL),
    ('int8'::regtype, 'bigint', 127, -5, 8, 19, 0, NULL, NULL),
    ('numeric'::regtype, 'decimal', 106, 3, -1, 38, 0, NULL, NULL),
    ('mssql.money'::regtype, 'money', 60, 3, 8, 19, 4, '$', NULL),
    ('mssql.smallmoney'::regtype, 'smallmoney', 122, 3, 4, 10, 4, '$', NULL),
    ('float8'::regtype, 'float', 62, 6, 8, 53, 0, NULL, NULL),
    ('float4'::regtype, 'real', 59, 7, 4, 24, 0, NULL, NULL),
    ('date'::regtype, 'date', 40, -9, 3, 10, 0, '''', ''''),
    ('time'::regtype, 'time', 41, -9, 5, 16, 7, '''', ''''),
    ('timestamp'::regtype, 'datetime2', 42, -9, 8, 27, 7, '''', ''''),
    ('mssql.datetime'::regtype, 'datetime', 61, 11, 8, 23, 3, '''', ''''),
    ('mssql.smalldatetime'::regtype, 'smalldatetime', 58, 11, 4, 16, 0, '''', ''''),
    ('mssql.datetimeoffset'::regtype, 'datetimeoffset', 43, -9, 10, 34, 7, '''', ''''),
    ('uuid'::regtype, 'uniqueidentifier', 36, -11, 16, 36, 0, '''', ''''),
    ('bpchar'::regtype, 'char', 175, 1, -1, 0, 0, '''', ''''),
    ('varchar'::regtype, 'varchar', 167, 12, -1, 0, 0, '''', ''''),
    ('text'::regtype, 'nvarchar', 231, -9, -1, 0, 0, 'N''', ''''),
    ('mssql.nchar'::regtype, 'nchar', 239, -8, -1, 0, 0, 'N''', ''''),
    ('mssql.nvarchar'::regtype, 'nvarchar', 231, -9, -1, 0, 0, 'N''', ''''),
    ('mssql.binary'::regtype, 'binary', 173, -2, -1, 0, 0, '0x', NULL),
    ('mssql.varbinary'::regtype, 'varbinary', 165, -3, -1, 0, 0, '0x', NULL);

CREATE FUNCTION mssql.declared(fallback name, comment text) RETURNS mssql.nvarchar
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN coalesce(comment, fallback::text)::mssql.nvarchar;

CREATE TABLE mssql.modules (
    db text NOT NULL,
    schema_name text NOT NULL,
    name mssql.nvarchar(128) NOT NULL,
    object_id integer GENERATED ALWAYS AS IDENTITY (START WITH 1000000001) UNIQUE,
    type char(2) NOT NULL,
    type_desc mssql.nvarchar(60) NOT NULL,
    definition mssql.nvarchar NOT NULL,
    create_date mssql.datetime NOT NULL DEFAULT mssql.getdate(),
    translated text -- a view's definition for PostgreSQL
);
CREATE UNIQUE INDEX modules_name ON mssql.modules (db, schema_name, lower(name::text));

CREATE TABLE mssql.defaults (
    relid oid,
    attnum smallint,
    definition text NOT NULL,
    name mssql.nvarchar(128) NOT NULL,
    system_named boolean NOT NULL,
    PRIMARY KEY (relid, attnum)
);
CREATE TABLE mssql.extended_properties (
    relid oid,
    attnum smallint,
    name mssql.nvarchar(128),
    value mssql.nvarchar,
    PRIMARY KEY (relid, attnum, name)
);
CREATE FUNCTION mssql.default_text(oid, smallint) RETURNS text LANGUAGE sql STABLE
    RETURN (SELECT d.definition FROM mssql.defaults d WHERE d.relid = $1 AND d.attnum = $2);
CREATE TABLE mssql.checks (constraint_oid oid PRIMARY KEY, definition text);
CREATE FUNCTION mssql.check_text(oid) RETURNS text LANGUAGE sql STABLE RETURN coalesce(
    (SELECT c.definition FROM mssql.checks c WHERE c.constraint_oid = $1),
    substr(pg_get_constraintdef($1), 7));


-- Change data capture: which databases, which tables, which columns.
CREATE TABLE mssql.cdc_databases (
    db text PRIMARY KEY,
    polling_seconds numeric NOT NULL,
    retention_minutes bigint NOT NULL DEFAULT 4320,
    cleanup_threshold bigint NOT NULL DEFAULT 5000,
    stopped_at timestamptz,
    create_date timestamp NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC')
);
CREATE TABLE mssql.cdc_tables (
    db text NOT NULL,
    object_id integer NOT NULL,
    source_oid integer NOT NULL,
    capture_instance mssql.nvarchar(128) NOT NULL,
    storage oid NOT NULL,
    start_lsn mssql.binary(10) NOT NULL,
    supports_net_changes boolean NOT NULL,
    role_name mssql.nvarchar(128),
    index_name mssql.nvarchar(128),
    key_columns text[] NOT NULL,
    filegroup_name mssql.nvarchar(128),
    create_date mssql.datetime NOT NULL,
    dropped boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX cdc_tables_name ON mssql.cdc_tables (db, lower(capture_instance::text));
CREATE TABLE mssql.cdc_columns (
    db text NOT NULL,
    object_id integer NOT NULL,
    column_name mssql.nvarchar(128) NOT NULL,
    attname name NOT NULL,
    column_id integer NOT NULL,
    column_type mssql.nvarchar(128) NOT NULL,
    column_ordinal integer NOT NULL,
    is_computed mssql.bit NOT NULL,
    PRIMARY KEY (object_id, column_ordinal)
);
CREATE TABLE mssql.cdc_ddl (
    db text NOT NULL,
    source_object_id integer NOT NULL,
    object_id integer,
    required_column_update mssql.bit NOT NULL,
    ddl_command mssql.nvarchar NOT NULL,
    ddl_lsn mssql.binary(10) NOT NULL,
    ddl_time mssql.datetime NOT NULL
);
