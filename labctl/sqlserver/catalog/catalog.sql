-- What the catalog views are made from. A SQL Server schema is a PostgreSQL schema named
-- "<database>.<schema>", names in lower case; a name declared with capitals is kept as the
-- object's comment. Each database gets its own views over the ones in "mssql_sys".

-- Every relation that clients may see, with its database and schema.
CREATE VIEW mssql.relations AS
    SELECT s.db, s.name AS schema_name, c.oid AS relid, n.oid AS schema_oid,
        (CASE WHEN s.name::text = 'cdc' THEN 'r' ELSE c.relkind END)::"char" AS relkind,
        mssql.declared(c.relname, obj_description(c.oid, 'pg_class')) AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN mssql.schemas s ON s.relname = n.nspname
    WHERE c.relkind IN ('r', 'v', 'p');

-- Every column, with the numbers SQL Server gives for its type.
CREATE VIEW mssql.columns AS
    SELECT r.db, r.schema_name, r.name AS table_name, r.relid, r.relkind,
        mssql.declared(a.attname, col_description(r.relid, a.attnum)) AS name,
        a.attnum::integer AS column_id, t.name AS type_name, t.system_type_id, t.odbc_type,
        t.pg AS pg_type,
        CASE
            WHEN t.name IN ('nvarchar', 'nchar') THEN CASE WHEN a.atttypmod > 4 THEN 2 * (a.atttypmod - 4) ELSE -1 END
            WHEN t.name IN ('varchar', 'char', 'varbinary', 'binary') THEN CASE WHEN a.atttypmod > 4 THEN a.atttypmod - 4 ELSE -1 END
            WHEN t.name = 'decimal' THEN CASE
                WHEN d.digits <= 9 THEN 5 WHEN d.digits <= 19 THEN 9 WHEN d.digits <= 28 THEN 13 ELSE 17 END
            WHEN t.name = 'time' THEN CASE WHEN d.fraction <= 2 THEN 3 WHEN d.fraction <= 4 THEN 4 ELSE 5 END
            WHEN t.name = 'datetime2' THEN CASE WHEN d.fraction <= 2 THEN 6 WHEN d.fraction <= 4 THEN 7 ELSE 8 END
            ELSE t.bytes END AS max_length,
        CASE
            WHEN t.name = 'decimal' THEN d.digits
            WHEN t.name = 'time' THEN CASE d.fraction WHEN 0 THEN 8 ELSE 9 + d.fraction END
            WHEN t.name = 'datetime2' THEN CASE d.fraction WHEN 0 THEN 19 ELSE 20 + d.fraction END
            ELSE t.digits END AS precision,
        CASE WHEN t.name = 'decimal' THEN d.decimals
            WHEN t.name IN ('time', 'datetime2') THEN d.fraction ELSE t.scale END AS scale,
        NOT a.attnotnull AS is_nullable, a.attidentity <> '' AS is_identity,
        a.attgenerated <> '' AS is_computed, a.attname,
        pg_get_expr(ad.adbin, ad.adrelid) AS pg_default, ad.oid AS default_oid,
        mssql.default_text(r.relid, a.attnum) AS default_text
    FROM mssql.relations r JOIN pg_attribute a ON a.attrelid = r.relid
    JOIN mssql.types t ON t.pg = a.atttypid
    LEFT JOIN pg_attrdef ad ON ad.adrelid = r.relid AND ad.adnum = a.attnum AND a.attgenerated = ''
    CROSS JOIN LATERAL (SELECT
        CASE WHEN a.atttypmod > 4 THEN ((a.atttypmod - 4) >> 16) & 65535 ELSE 38 END AS digits,
        CASE WHEN a.atttypmod > 4 THEN (a.atttypmod - 4) & 2047 ELSE 6 END AS decimals,
        CASE WHEN a.atttypmod >= 0 THEN a.atttypmod ELSE 7 END AS fraction) d
    WHERE a.attnum > 0 AND NOT a.attisdropped;

-- Constraints: keys, checks, references.
CREATE VIEW mssql.constraints AS
    SELECT r.db, r.schema_name, r.name AS table_name, r.relid, r.schema_oid, c.oid AS constraint_oid,
        mssql.declared(c.conname, obj_description(c.oid, 'pg_constraint')) AS name, c.contype,
        c.conkey, c.confkey, c.confrelid, c.conindid, c.confdeltype, c.confupdtype, c.convalidated,
        mssql.check_text(c.oid) AS definition
    FROM pg_constraint c JOIN mssql.relations r ON r.relid = c.conrelid
    WHERE c.contype IN ('p', 'u', 'f', 'c');

-- DEFAULT constraints, which PostgreSQL keeps without names.
CREATE VIEW mssql.default_constraints AS
    SELECT c.db, d.name, c.default_oid::integer AS object_id, r.schema_oid::integer AS schema_id,
        r.schema_name, c.relid::integer AS parent_object_id, c.column_id AS parent_column_id,
        d.definition::mssql.nvarchar AS definition, d.system_named::mssql.bit AS is_system_named
    FROM mssql.defaults d JOIN mssql.columns c ON c.relid = d.relid AND c.column_id = d.attnum
    JOIN mssql.relations r ON r.relid = d.relid
    WHERE c.default_oid IS NOT NULL;

-- The views that are there, of those that were created.
CREATE VIEW mssql.views AS
    SELECT m.db, m.object_id, c.oid AS relid
    FROM mssql.modules m JOIN pg_class c ON c.relname = lower(m.name::text)::name AND c.relkind = 'v'
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = m.db || '.' || m.schema_name
    WHERE m.type = 'V';

CREATE SCHEMA IF NOT EXISTS mssql_sys;

CREATE VIEW mssql_sys.databases AS
    SELECT NULL::text AS db, d.name, d.database_id, NULL::integer AS source_database_id,
        d.create_date::mssql.datetime AS create_date, 160::mssql.tinyint AS compatibility_level,
        'Latin1_General_100_BIN2_UTF8'::mssql.nvarchar(128) AS collation_name,
        0::mssql.tinyint AS user_access, 'MULTI_USER'::mssql.nvarchar(60) AS user_access_desc,
        0::mssql.bit AS is_read_only, 0::mssql.tinyint AS state,
        'ONLINE'::mssql.nvarchar(60) AS state_desc,
        (CASE WHEN d.allows_snapshot THEN 1 ELSE 0 END)::mssql.tinyint AS snapshot_isolation_state,
        (CASE WHEN d.allows_snapshot THEN 'ON' ELSE 'OFF' END)::mssql.nvarchar(60) AS snapshot_isolation_state_desc,
        d.reads_snapshot::mssql.bit AS is_read_committed_snapshot_on,
        1::mssql.tinyint AS recovery_model, 'FULL'::mssql.nvarchar(60) AS recovery_model_desc,
        EXISTS (SELECT FROM mssql.cdc_databases c WHERE c.db = lower(d.name::text))::mssql.bit AS is_cdc_enabled
    FROM mssql.databases d;

CREATE VIEW mssql_sys.schemas AS
    SELECT s.db, s.name, n.oid::integer AS schema_id, 1 AS principal_id
    FROM mssql.schemas s JOIN pg_namespace n ON n.nspname = s.relname;

CREATE VIEW mssql_sys.all_objects AS
    SELECT r.db, r.name, r.relid::integer AS object_id, NULL::integer AS principal_id,
        r.schema_oid::integer AS schema_id, 0 AS parent_object_id,
        (CASE r.relkind WHEN 'v' THEN 'V' ELSE 'U' END)::char(2) AS type,
        (CASE r.relkind WHEN 'v' THEN 'VIEW' ELSE 'USER_TABLE' END)::mssql.nvarchar(60) AS type_desc,
        '2000-01-01'::mssql.datetime AS create_date, '2000-01-01'::mssql.datetime AS modify_date,
        (r.schema_name::text IN ('sys', 'INFORMATION_SCHEMA', 'cdc'))::mssql.bit AS is_ms_shipped,
        0::mssql.bit AS is_published, 0::mssql.bit AS is_schema_published
    FROM mssql.relations r
    UNION ALL
    SELECT c.db, c.name, c.constraint_oid::integer, NULL, c.schema_oid::integer, c.relid::integer,
        (CASE c.contype WHEN 'p' THEN 'PK' WHEN 'u' THEN 'UQ' WHEN 'f' THEN 'F' ELSE 'C' END)::char(2),
        (CASE c.contype WHEN 'p' THEN 'PRIMARY_KEY_CONSTRAINT' WHEN 'u' THEN 'UNIQUE_CONSTRAINT'
            WHEN 'f' THEN 'FOREIGN_KEY_CONSTRAINT' ELSE 'CHECK_CONSTRAINT' END)::mssql.nvarchar(60),
        '2000-01-01', '2000-01-01', 0::mssql.bit, 0::mssql.bit, 0::mssql.bit
    FROM mssql.constraints c
    UNION ALL
    SELECT d.db, d.name, d.object_id, NULL, d.schema_id, d.parent_object_id, 'D'::char(2),
        'DEFAULT_CONSTRAINT', '2000-01-01', '2000-01-01', 0::mssql.bit, 0::mssql.bit, 0::mssql.bit
    FROM mssql.default_constraints d
    UNION ALL
    SELECT p.db, p.name, p.object_id, NULL, n.oid::integer, 0, p.type, p.type_desc,
        p.create_date, p.create_date, 0::mssql.bit, 0::mssql.bit, 0::mssql.bit
    FROM mssql.modules p JOIN mssql.schemas s ON s.db = p.db AND lower(s.name::text) = p.schema_name
    JOIN pg_namespace n ON n.nspname = s.relname
    WHERE p.type <> 'V' OR NOT EXISTS (SELECT FROM mssql.views v WHERE v.object_id = p.object_id);
CREATE VIEW mssql_sys.objects AS
    SELECT * FROM mssql_sys.all_objects WHERE is_ms_shipped = 0;
CREATE VIEW mssql_sys.tables AS
    SELECT o.db, o.name, o.object_id, o.principal_id, o.schema_id, o.parent_object_id, o.type,
        o.type_desc, o.create_date, o.modify_date, o.is_ms_shipped,
        EXISTS (SELECT FROM mssql.cdc_tables c WHERE c.source_oid = o.object_id AND NOT c.dropped)::mssql.bit AS is_tracked_by_cdc,
        0::mssql.bit AS is_memory_optimized, 0::mssql.tinyint AS temporal_type,
        0::mssql.bit AS is_replicated, 0::mssql.bit AS is_external, 0::mssql.tinyint AS durability,
        0::mssql.bit AS is_filetable, 0::mssql.bit AS is_node, 0::mssql.bit AS is_edge
    FROM mssql_sys.all_objects o WHERE o.type = 'U' AND o.name::text <> 'sysdiagrams';
CREATE VIEW mssql_sys.views AS
    SELECT o.db, o.name, o.object_id, o.principal_id, o.schema_id, o.parent_object_id, o.type,
        o.type_desc, o.create_date, o.modify_date, o.is_ms_shipped
    FROM mssql_sys.objects o WHERE o.type = 'V';
CREATE VIEW mssql_sys.procedures AS
    SELECT o.db, o.name, o.object_id, o.schema_id, o.type, o.type_desc, o.create_date,
        o.modify_date, o.is_ms_shipped
    FROM mssql_sys.objects o WHERE o.type = 'P';
CREATE VIEW mssql_sys.sysobjects AS
    SELECT o.db, o.name, o.object_id AS id, o.type AS xtype, o.schema_id AS uid,
        o.parent_object_id AS parent_obj, o.create_date AS crdate, o.type
    FROM mssql_sys.objects o;

CREATE VIEW mssql_sys.all_columns AS
    SELECT c.db, c.relid::integer AS object_id, c.name, c.column_id,
        c.system_type_id::mssql.tinyint AS system_type_id, c.system_type_id AS user_type_id,
        c.max_length::smallint AS max_length, c.precision::mssql.tinyint AS precision,
        c.scale::mssql.tinyint AS scale,
        (CASE WHEN c.type_name::text ~ 'char' THEN 'Latin1_General_100_BIN2_UTF8' END)::mssql.nvarchar(128) AS collation_name,
        c.is_nullable::mssql.bit AS is_nullable, 1::mssql.bit AS is_ansi_padded,
        0::mssql.bit AS is_rowguidcol, c.is_identity::mssql.bit AS is_identity,
        c.is_computed::mssql.bit AS is_computed, 0::mssql.bit AS is_filestream,
        0::mssql.bit AS is_replicated, 0::mssql.bit AS is_sparse, 0::mssql.bit AS is_column_set,
        coalesce(c.default_oid::integer, 0) AS default_object_id, 0 AS rule_object_id,
        0::mssql.tinyint AS generated_always_type, 0::mssql.bit AS is_hidden,
        0::mssql.bit AS is_masked, c.relkind = 'v' AS of_view
    FROM mssql.columns c;
CREATE VIEW mssql_sys.columns AS SELECT * FROM mssql_sys.all_columns;
CREATE VIEW mssql_sys.types AS
    SELECT NULL::text AS db, t.name, t.system_type_id::mssql.tinyint AS system_type_id,
        t.system_type_id AS user_type_id, 4 AS schema_id, NULL::integer AS principal_id,
        (CASE WHEN t.bytes > 0 THEN t.bytes ELSE 8000 END)::smallint AS max_length,
        t.digits::mssql.tinyint AS precision, t.scale::mssql.tinyint AS scale,
        (CASE WHEN t.name::text ~ 'char' THEN 'Latin1_General_100_BIN2_UTF8' END)::mssql.nvarchar(128) AS collation_name,
        1::mssql.bit AS is_nullable, 0::mssql.bit AS is_user_defined,
        0::mssql.bit AS is_assembly_type, 0 AS default_object_id, 0 AS rule_object_id,
        0::mssql.bit AS is_table_type
    FROM mssql.types t WHERE t.pg <> 'text'::regtype
    UNION ALL
    SELECT NULL, 'sysname', 231::mssql.tinyint, 256, 4, NULL, 256::smallint, 0::mssql.tinyint,
        0::mssql.tinyint, 'Latin1_General_100_BIN2_UTF8', 0::mssql.bit, 0::mssql.bit, 0::mssql.bit,
        0, 0, 0::mssql.bit;
CREATE VIEW mssql_sys.systypes AS
    SELECT t.db, t.name, t.system_type_id AS xtype, t.user_type_id::smallint AS xusertype,
        t.max_length AS length, t.user_type_id::smallint AS usertype, t.precision AS prec, t.scale
    FROM mssql_sys.types t;

CREATE VIEW mssql_sys.identity_columns AS
    SELECT c.db, c.relid::integer AS object_id, c.name, c.column_id,
        c.system_type_id::mssql.tinyint AS system_type_id, c.system_type_id AS user_type_id,
        c.is_nullable::mssql.bit AS is_nullable, 1::mssql.bit AS is_identity,
        q.seqstart::numeric(38, 0) AS seed_value, q.seqincrement::numeric(38, 0) AS increment_value,
        pg_sequence_last_value(q.seqrelid)::numeric(38, 0) AS last_value,
        0::mssql.bit AS is_not_for_replication
    FROM mssql.columns c
    JOIN pg_sequence q ON q.seqrelid = pg_get_serial_sequence(c.relid::regclass::text, c.attname)::regclass
    WHERE c.is_identity;
CREATE VIEW mssql_sys.computed_columns AS
    SELECT c.*, NULL::mssql.nvarchar AS definition, 0::mssql.bit AS uses_database_collation,
        1::mssql.bit AS is_persisted
    FROM mssql_sys.columns c WHERE c.is_computed = 1;
CREATE VIEW mssql_sys.default_constraints AS
    SELECT d.db, d.name, d.object_id, d.schema_id, d.parent_object_id, 'D'::char(2) AS type,
        'DEFAULT_CONSTRAINT'::mssql.nvarchar(60) AS type_desc, d.parent_column_id, d.definition,
        d.is_system_named
    FROM mssql.default_constraints d;
CREATE VIEW mssql_sys.extended_properties AS
    SELECT r.db, 1::mssql.tinyint AS class, 'OBJECT_OR_COLUMN'::mssql.nvarchar(60) AS class_desc,
        p.relid::integer AS major_id, p.attnum::integer AS minor_id, p.name, p.value
    FROM mssql.extended_properties p JOIN mssql.relations r ON r.relid = p.relid;
CREATE VIEW mssql_sys.synonyms AS
    SELECT NULL::text AS db, ''::mssql.nvarchar(128) AS name, 0 AS object_id, 0 AS schema_id,
        ''::mssql.nvarchar AS base_object_name WHERE false;
CREATE VIEW mssql_sys.sequences AS
    SELECT NULL::text AS db, ''::mssql.nvarchar(128) AS name, 0 AS object_id, 0 AS schema_id WHERE false;
CREATE VIEW mssql_sys.triggers AS
    SELECT NULL::text AS db, ''::mssql.nvarchar(128) AS name, 0 AS object_id, 0 AS parent_id,
        0::mssql.bit AS is_disabled WHERE false;
CREATE VIEW mssql_sys.sql_modules AS
    SELECT m.db, m.object_id, m.definition, 1::mssql.bit AS uses_ansi_nulls,
        1::mssql.bit AS uses_quoted_identifier
    FROM mssql.modules m;
CREATE VIEW mssql_sys.database_principals AS
    SELECT NULL::text AS db, 'dbo'::mssql.nvarchar(128) AS name, 1 AS principal_id, 'S'::char(1) AS type,
        'dbo'::mssql.nvarchar(128) AS default_schema_name;
CREATE VIEW mssql_sys.filegroups AS
    SELECT NULL::text AS db, 'PRIMARY'::mssql.nvarchar(128) AS name, 1 AS data_space_id,
        'FG'::char(2) AS type, 1::mssql.bit AS is_default;
-- Files are PostgreSQL's affair: one stands for the data, one for the log.
CREATE VIEW mssql_sys.database_files AS
    SELECT NULL::text AS db, f.file_id, f.type, f.type_desc, f.data_space_id, f.name,
        f.name || f.suffix AS physical_name, 0::mssql.tinyint AS state, 'ONLINE'::mssql.nvarchar(60) AS state_desc
    FROM (VALUES
        (1, 0::mssql.tinyint, 'ROWS'::mssql.nvarchar(60), 1, 'data'::mssql.nvarchar(128), '.mdf'),
        (2, 1::mssql.tinyint, 'LOG'::mssql.nvarchar(60), 0, 'log'::mssql.nvarchar(128), '.ldf')
    ) AS f (file_id, type, type_desc, data_space_id, name, suffix);
CREATE VIEW mssql_sys.server_principals AS
    SELECT NULL::text AS db, 'sa'::mssql.nvarchar(128) AS name, 1 AS principal_id, 'S'::char(1) AS type,
        'SQL_LOGIN'::mssql.nvarchar(60) AS type_desc, 0::mssql.bit AS is_disabled;
CREATE VIEW mssql_sys.data_spaces AS SELECT * FROM mssql_sys.filegroups;

CREATE VIEW mssql_sys.indexes AS
    SELECT r.db, r.relid::integer AS object_id,
        mssql.declared(ic.relname, obj_description(ic.oid, 'pg_class')) AS name,
        i.indexrelid::integer AS index_id,
        (CASE WHEN i.indisprimary THEN 1 ELSE 2 END)::mssql.tinyint AS type,
        (CASE WHEN i.indisprimary THEN 'CLUSTERED' ELSE 'NONCLUSTERED' END)::mssql.nvarchar(60) AS type_desc,
        i.indisunique::mssql.bit AS is_unique, 1 AS data_space_id, 0::mssql.bit AS ignore_dup_key,
        i.indisprimary::mssql.bit AS is_primary_key,
        EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid AND c.contype = 'u')::mssql.bit AS is_unique_constraint,
        0::mssql.tinyint AS fill_factor, 0::mssql.bit AS is_padded, 0::mssql.bit AS is_disabled,
        0::mssql.bit AS is_hypothetical, 1::mssql.bit AS allow_row_locks,
        1::mssql.bit AS allow_page_locks, (i.indpred IS NOT NULL)::mssql.bit AS has_filter,
        pg_get_expr(i.indpred, i.indrelid)::mssql.nvarchar AS filter_definition
    FROM pg_index i JOIN mssql.relations r ON r.relid = i.indrelid
    JOIN pg_class ic ON ic.oid = i.indexrelid;
CREATE VIEW mssql_sys.index_columns AS
    SELECT r.db, r.relid::integer AS object_id, i.indexrelid::integer AS index_id,
        k.position::integer AS index_column_id, k.attnum::integer AS column_id,
        (CASE WHEN k.position <= i.indnkeyatts THEN k.position ELSE 0 END)::mssql.tinyint AS key_ordinal,
        0::mssql.tinyint AS partition_ordinal,
        (CASE WHEN k.position <= i.indnkeyatts THEN i.indoption[k.position - 1] & 1 ELSE 0 END)::integer::mssql.bit AS is_descending_key,
        (k.position > i.indnkeyatts)::mssql.bit AS is_included_column,
        0::mssql.tinyint AS column_store_order_ordinal
    FROM pg_index i JOIN mssql.relations r ON r.relid = i.indrelid
    CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, position);
CREATE VIEW mssql_sys.key_constraints AS
    SELECT c.db, c.name, c.constraint_oid::integer AS object_id, c.schema_oid::integer AS schema_id,
        c.relid::integer AS parent_object_id,
        (CASE c.contype WHEN 'p' THEN 'PK' ELSE 'UQ' END)::char(2) AS type,
        (CASE c.contype WHEN 'p' THEN 'PRIMARY_KEY_CONSTRAINT' ELSE 'UNIQUE_CONSTRAINT' END)::mssql.nvarchar(60) AS type_desc,
        c.conindid::integer AS unique_index_id, 0::mssql.bit AS is_system_named,
        1::mssql.bit AS is_enforced
    FROM mssql.constraints c WHERE c.contype IN ('p', 'u');
CREATE VIEW mssql_sys.check_constraints AS
    SELECT c.db, c.name, c.constraint_oid::integer AS object_id, c.schema_oid::integer AS schema_id,
        c.relid::integer AS parent_object_id, 'C'::char(2) AS type,
        (CASE WHEN cardinality(c.conkey) = 1 THEN c.conkey[1] ELSE 0 END)::integer AS parent_column_id,
        c.definition::mssql.nvarchar AS definition, 0::mssql.bit AS is_disabled,
        0::mssql.bit AS is_not_trusted
    FROM mssql.constraints c WHERE c.contype = 'c';
CREATE FUNCTION mssql.reference_action("char") RETURNS integer LANGUAGE sql IMMUTABLE
    RETURN CASE $1 WHEN 'c' THEN 1 WHEN 'n' THEN 2 WHEN 'd' THEN 3 ELSE 0 END;
CREATE VIEW mssql_sys.foreign_keys AS
    SELECT c.db, c.name, c.constraint_oid::integer AS object_id, c.schema_oid::integer AS schema_id,
        c.relid::integer AS parent_object_id, 'F'::char(2) AS type,
        c.confrelid::integer AS referenced_object_id, c.conindid::integer AS key_index_id,
        mssql.reference_action(c.confdeltype)::mssql.tinyint AS delete_referential_action,
        (ARRAY['NO_ACTION', 'CASCADE', 'SET_NULL', 'SET_DEFAULT'])[mssql.reference_action(c.confdeltype) + 1]::mssql.nvarchar(60) AS delete_referential_action_desc,
        mssql.reference_action(c.confupdtype)::mssql.tinyint AS update_referential_action,
        (ARRAY['NO_ACTION', 'CASCADE', 'SET_NULL', 'SET_DEFAULT'])[mssql.reference_action(c.confupdtype) + 1]::mssql.nvarchar(60) AS update_referential_action_desc,
        0::mssql.bit AS is_disabled, (NOT c.convalidated)::mssql.bit AS is_not_trusted
    FROM mssql.constraints c WHERE c.contype = 'f';
CREATE VIEW mssql_sys.foreign_key_columns AS
    SELECT c.db, c.constraint_oid::integer AS constraint_object_id,
        k.position::integer AS constraint_column_id, c.relid::integer AS parent_object_id,
        k.attnum::integer AS parent_column_id, c.confrelid::integer AS referenced_object_id,
        c.confkey[k.position]::integer AS referenced_column_id
    FROM mssql.constraints c CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS k(attnum, position)
    WHERE c.contype = 'f';
CREATE VIEW mssql_sys.partitions AS
    SELECT r.db, r.relid::bigint AS partition_id, r.relid::integer AS object_id, 1 AS index_id,
        1 AS partition_number, greatest(k.reltuples, 0)::bigint AS rows
    FROM mssql.relations r JOIN pg_class k ON k.oid = r.relid WHERE r.relkind = 'r';

CREATE VIEW mssql_sys.dm_server_services AS
    SELECT NULL::text AS db, v.servicename::mssql.nvarchar(256) AS servicename,
        2 AS startup_type, 'Automatic'::mssql.nvarchar(256) AS startup_type_desc, 4 AS status,
        'Running'::mssql.nvarchar(256) AS status_desc, pg_backend_pid() AS process_id
    FROM (VALUES ('SQL Server (MSSQLSERVER)'), ('SQL Server Agent (MSSQLSERVER)')) AS v(servicename);
-- Changes are captured at COMMIT, and no job reads a log: there is no such session.
CREATE VIEW mssql_sys.dm_cdc_log_scan_sessions AS
    SELECT NULL::text AS db, NULL::integer AS session_id, NULL::mssql.datetime AS start_time,
        NULL::mssql.datetime AS end_time, NULL::integer AS duration,
        NULL::mssql.nvarchar(200) AS scan_phase, NULL::integer AS error_count,
        NULL::mssql.nvarchar(23) AS start_lsn, NULL::mssql.nvarchar(23) AS current_lsn,
        NULL::mssql.nvarchar(23) AS end_lsn, NULL::bigint AS tran_count,
        NULL::bigint AS command_count, NULL::integer AS latency, NULL::integer AS empty_scan_count
    WHERE false;
-- A session's PostgreSQL connection is named "sqlserver:<spid>:<program>". The client's host and
-- its current database are known to the session alone.
CREATE VIEW mssql_sys.dm_exec_sessions AS
    SELECT NULL::text AS db, split_part(a.application_name, ':', 2)::smallint AS session_id,
        (a.backend_start AT TIME ZONE 'UTC')::mssql.datetime AS login_time,
        NULL::mssql.nvarchar(128) AS host_name,
        (regexp_replace(a.application_name, '^sqlserver:\d+:', ''))::mssql.nvarchar(128) AS program_name,
        'sa'::mssql.nvarchar(128) AS login_name,
        (CASE WHEN a.state = 'active' THEN 'running' ELSE 'sleeping' END)::mssql.nvarchar(30) AS status,
        1::mssql.bit AS is_user_process, NULL::mssql.nvarchar(128) AS database_name
    FROM pg_stat_activity a
    WHERE a.datname = current_database() AND a.application_name ~ '^sqlserver:\d+:';
CREATE VIEW mssql_sys.configurations AS
    SELECT NULL::text AS db, 1 AS configuration_id, ''::mssql.nvarchar(35) AS name, 0 AS value WHERE false;

-- INFORMATION_SCHEMA, installed next to sys.
CREATE SCHEMA IF NOT EXISTS mssql_info;
CREATE VIEW mssql_info."tables" AS
    SELECT r.db, r.db::mssql.nvarchar(128) AS table_catalog, r.schema_name AS table_schema,
        r.name AS table_name,
        (CASE r.relkind WHEN 'v' THEN 'VIEW' ELSE 'BASE TABLE' END)::varchar(10) AS table_type
    FROM mssql.relations r WHERE r.schema_name::text NOT IN ('sys', 'INFORMATION_SCHEMA');
CREATE VIEW mssql_info.views AS
    SELECT r.db, r.db::mssql.nvarchar(128) AS table_catalog, r.schema_name AS table_schema,
        r.name AS table_name, NULL::mssql.nvarchar(4000) AS view_definition,
        'NONE'::varchar(7) AS check_option, 'NO'::varchar(2) AS is_updatable
    FROM mssql.relations r
    WHERE r.relkind = 'v' AND r.schema_name::text NOT IN ('sys', 'INFORMATION_SCHEMA');
CREATE VIEW mssql_info.schemata AS
    SELECT s.db, s.db::mssql.nvarchar(128) AS catalog_name, s.name AS schema_name,
        'dbo'::mssql.nvarchar(128) AS schema_owner
    FROM mssql.schemas s;
CREATE VIEW mssql_info.columns AS
    SELECT c.db, c.db::mssql.nvarchar(128) AS table_catalog, c.schema_name AS table_schema,
        c.table_name, c.name AS column_name, c.column_id AS ordinal_position,
        coalesce(c.default_text, c.pg_default)::mssql.nvarchar(4000) AS column_default,
        (CASE WHEN c.is_nullable THEN 'YES' ELSE 'NO' END)::varchar(3) AS is_nullable,
        c.type_name AS data_type,
        CASE WHEN c.type_name::text ~ '^n(var)?char' AND c.max_length > 0 THEN c.max_length / 2
            WHEN c.type_name::text ~ 'char|binary' THEN c.max_length END AS character_maximum_length,
        CASE WHEN c.type_name::text ~ 'char|binary' THEN c.max_length END AS character_octet_length,
        (CASE WHEN c.type_name::text IN ('tinyint', 'smallint', 'int', 'bigint', 'decimal', 'money', 'smallmoney', 'float', 'real')
            THEN c.precision END)::mssql.tinyint AS numeric_precision,
        (CASE WHEN c.type_name::text IN ('float', 'real') THEN 2
            WHEN c.type_name::text IN ('tinyint', 'smallint', 'int', 'bigint', 'decimal', 'money', 'smallmoney') THEN 10 END)::smallint AS numeric_precision_radix,
        CASE WHEN c.type_name::text IN ('tinyint', 'smallint', 'int', 'bigint', 'decimal', 'money', 'smallmoney') THEN c.scale END AS numeric_scale,
        (CASE WHEN c.type_name::text ~ 'date|time' THEN c.scale END)::smallint AS datetime_precision,
        NULL::mssql.nvarchar(128) AS character_set_catalog, NULL::mssql.nvarchar(128) AS character_set_schema,
        (CASE WHEN c.type_name::text ~ '^n(var)?char' THEN 'UNICODE' WHEN c.type_name::text ~ 'char' THEN 'UTF8' END)::mssql.nvarchar(128) AS character_set_name,
        NULL::mssql.nvarchar(128) AS collation_catalog, NULL::mssql.nvarchar(128) AS collation_schema,
        (CASE WHEN c.type_name::text ~ 'char' THEN 'Latin1_General_100_BIN2_UTF8' END)::mssql.nvarchar(128) AS collation_name,
        NULL::mssql.nvarchar(128) AS domain_catalog, NULL::mssql.nvarchar(128) AS domain_schema,
        NULL::mssql.nvarchar(128) AS domain_name
    FROM mssql.columns c WHERE c.schema_name::text NOT IN ('sys', 'INFORMATION_SCHEMA');
CREATE VIEW mssql_info.table_constraints AS
    SELECT c.db, c.db::mssql.nvarchar(128) AS constraint_catalog, c.schema_name AS constraint_schema,
        c.name AS constraint_name, c.db::mssql.nvarchar(128) AS table_catalog,
        c.schema_name AS table_schema, c.table_name,
        (CASE c.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' WHEN 'f' THEN 'FOREIGN KEY' ELSE 'CHECK' END)::varchar(11) AS constraint_type,
        'NO'::varchar(2) AS is_deferrable, 'NO'::varchar(2) AS initially_deferred
    FROM mssql.constraints c;
CREATE VIEW mssql_info.key_column_usage AS
    SELECT c.db, c.db::mssql.nvarchar(128) AS constraint_catalog, c.schema_name AS constraint_schema,
        c.name AS constraint_name, c.db::mssql.nvarchar(128) AS table_catalog,
        c.schema_name AS table_schema, c.table_name, k.name AS column_name,
        u.position::integer AS ordinal_position
    FROM mssql.constraints c CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS u(attnum, position)
    JOIN mssql.columns k ON k.relid = c.relid AND k.column_id = u.attnum
    WHERE c.contype IN ('p', 'u', 'f');
CREATE VIEW mssql_info.constraint_column_usage AS
    SELECT c.db, c.db::mssql.nvarchar(128) AS table_catalog, c.schema_name AS table_schema,
        c.table_name, k.name AS column_name, c.db::mssql.nvarchar(128) AS constraint_catalog,
        c.schema_name AS constraint_schema, c.name AS constraint_name
    FROM mssql.constraints c JOIN mssql.columns k ON k.relid = c.relid AND k.column_id = ANY (c.conkey);
CREATE VIEW mssql_info.constraint_table_usage AS
    SELECT c.db, c.db::mssql.nvarchar(128) AS table_catalog, c.schema_name AS table_schema,
        c.table_name, c.db::mssql.nvarchar(128) AS constraint_catalog,
        c.schema_name AS constraint_schema, c.name AS constraint_name
    FROM mssql.constraints c;
CREATE VIEW mssql_info.check_constraints AS
    SELECT c.db, c.db::mssql.nvarchar(128) AS constraint_catalog, c.schema_name AS constraint_schema,
        c.name AS constraint_name, c.definition::mssql.nvarchar(4000) AS check_clause
    FROM mssql.constraints c WHERE c.contype = 'c';
CREATE VIEW mssql_info.referential_constraints AS
    SELECT c.db, c.db::mssql.nvarchar(128) AS constraint_catalog, c.schema_name AS constraint_schema,
        c.name AS constraint_name, c.db::mssql.nvarchar(128) AS unique_constraint_catalog,
        u.schema_name AS unique_constraint_schema, u.name AS unique_constraint_name,
        'SIMPLE'::varchar(7) AS match_option,
        replace((ARRAY['NO_ACTION', 'CASCADE', 'SET_NULL', 'SET_DEFAULT'])[mssql.reference_action(c.confupdtype) + 1], '_', ' ')::varchar(11) AS update_rule,
        replace((ARRAY['NO_ACTION', 'CASCADE', 'SET_NULL', 'SET_DEFAULT'])[mssql.reference_action(c.confdeltype) + 1], '_', ' ')::varchar(11) AS delete_rule
    FROM mssql.constraints c
    LEFT JOIN mssql.constraints u ON u.conindid = c.conindid AND u.contype IN ('p', 'u')
    WHERE c.contype = 'f';
CREATE VIEW mssql_info.routines AS
    SELECT m.db, m.db::mssql.nvarchar(128) AS routine_catalog, m.schema_name::mssql.nvarchar(128) AS routine_schema,
        m.name AS routine_name, 'PROCEDURE'::mssql.nvarchar(20) AS routine_type,
        m.definition AS routine_definition
    FROM mssql.modules m WHERE m.type = 'P';
