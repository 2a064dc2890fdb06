-- System procedures that return rows, as functions; names match as patterns where ODBC says so.

CREATE FUNCTION mssql.matches(value text, pattern text) RETURNS boolean LANGUAGE sql IMMUTABLE
    PARALLEL SAFE RETURN pattern IS NULL OR mssql."like"(lower(value), lower(pattern), '\')
        OR lower(value) = lower(pattern);

CREATE FUNCTION mssql.sp_tables(db_name text, table_name text, table_owner text,
    table_qualifier text, table_type text, fusepattern integer)
    RETURNS TABLE ("TABLE_QUALIFIER" mssql.nvarchar, "TABLE_OWNER" mssql.nvarchar,
        "TABLE_NAME" mssql.nvarchar, "TABLE_TYPE" varchar, "REMARKS" varchar)
    LANGUAGE sql STABLE AS $$
    SELECT d.name, r.schema_name, r.name,
        CASE WHEN r.schema_name::text IN ('sys', 'INFORMATION_SCHEMA') THEN CASE r.relkind WHEN 'v' THEN 'VIEW' ELSE 'SYSTEM TABLE' END
            WHEN r.relkind = 'v' THEN 'VIEW' ELSE 'TABLE' END::varchar AS kind, NULL::varchar
    FROM mssql.relations r JOIN mssql.databases d ON lower(d.name::text) = r.db
    WHERE r.db = lower(coalesce(table_qualifier, db_name))
        AND mssql.matches(r.name::text, table_name) AND mssql.matches(r.schema_name::text, table_owner)
        AND (table_type IS NULL OR strpos(upper(table_type), CASE WHEN r.relkind = 'v' THEN '''VIEW''' ELSE '''TABLE''' END) > 0)
    ORDER BY kind, r.db, r.schema_name::text, r.name::text
$$;

CREATE FUNCTION mssql.sp_columns(db_name text, table_name text, table_owner text,
    table_qualifier text, column_name text, namescope integer, odbcver integer, fusepattern integer)
    RETURNS TABLE ("TABLE_QUALIFIER" mssql.nvarchar, "TABLE_OWNER" mssql.nvarchar,
        "TABLE_NAME" mssql.nvarchar, "COLUMN_NAME" mssql.nvarchar, "DATA_TYPE" smallint,
        "TYPE_NAME" mssql.nvarchar, "PRECISION" integer, "LENGTH" integer, "SCALE" smallint,
        "RADIX" smallint, "NULLABLE" smallint, "REMARKS" varchar, "COLUMN_DEF" mssql.nvarchar,
        "SQL_DATA_TYPE" smallint, "SQL_DATETIME_SUB" smallint, "CHAR_OCTET_LENGTH" integer,
        "ORDINAL_POSITION" integer, "IS_NULLABLE" varchar, "SS_IS_SPARSE" smallint,
        "SS_IS_COLUMN_SET" smallint, "SS_IS_COMPUTED" smallint, "SS_IS_IDENTITY" smallint,
        "SS_UDT_CATALOG_NAME" mssql.nvarchar, "SS_UDT_SCHEMA_NAME" mssql.nvarchar,
        "SS_UDT_ASSEMBLY_TYPE_NAME" mssql.nvarchar,
        "SS_XML_SCHEMACOLLECTION_CATALOG_NAME" mssql.nvarchar,
        "SS_XML_SCHEMACOLLECTION_SCHEMA_NAME" mssql.nvarchar,
        "SS_XML_SCHEMACOLLECTION_NAME" mssql.nvarchar, "SS_DATA_TYPE" mssql.tinyint)
    LANGUAGE sql STABLE AS $$
    SELECT d.name, c.schema_name, c.table_name, c.name, o.type::smallint,
        (c.type_name::text || CASE WHEN c.is_identity THEN ' identity' ELSE '' END)::mssql.nvarchar,
        CASE WHEN c.type_name::text IN ('nvarchar', 'nchar') THEN CASE WHEN c.max_length < 0 THEN 1073741823 ELSE c.max_length / 2 END
            WHEN c.type_name::text ~ 'char|binary' THEN CASE WHEN c.max_length < 0 THEN 2147483647 ELSE c.max_length END
            ELSE c.precision END,
        CASE WHEN c.type_name::text = 'decimal' THEN c.precision + 2
            WHEN c.type_name::text IN ('nvarchar', 'nchar') AND c.max_length < 0 THEN 2147483646
            WHEN c.type_name::text ~ 'char|binary' AND c.max_length < 0 THEN 2147483647
            WHEN c.type_name::text IN ('datetime', 'smalldatetime', 'datetime2') THEN 16
            WHEN c.type_name::text = 'money' THEN 21 WHEN c.type_name::text = 'smallmoney' THEN 12
            WHEN c.type_name::text = 'date' THEN 20
            ELSE c.max_length END,
        (CASE WHEN c.type_name::text ~ 'char|binary|^float|real|uniqueidentifier|^date$' THEN NULL ELSE c.scale END)::smallint,
        (CASE WHEN c.type_name::text IN ('float', 'real') THEN 2
            WHEN c.type_name::text ~ 'int$|decimal|money' THEN 10 END)::smallint,
        c.is_nullable::integer::smallint, NULL::varchar,
        coalesce(c.default_text, c.pg_default)::mssql.nvarchar, o.type::smallint,
        (CASE o.type WHEN 11 THEN 3 END)::smallint,
        CASE WHEN c.type_name::text ~ 'char|binary' THEN CASE WHEN c.max_length < 0 THEN 2147483647 ELSE c.max_length END END,
        row_number() OVER (PARTITION BY c.relid ORDER BY c.column_id)::integer,
        CASE WHEN c.is_nullable THEN 'YES' ELSE 'NO' END::varchar, 0::smallint, 0::smallint,
        c.is_computed::integer::smallint, c.is_identity::integer::smallint, NULL::mssql.nvarchar, NULL::mssql.nvarchar,
        NULL::mssql.nvarchar, NULL::mssql.nvarchar, NULL::mssql.nvarchar, NULL::mssql.nvarchar,
        (CASE c.type_name::text WHEN 'bit' THEN 50 WHEN 'tinyint' THEN 38 WHEN 'smallint' THEN 38 WHEN 'int' THEN 38
            WHEN 'bigint' THEN 108 WHEN 'decimal' THEN 106 WHEN 'money' THEN 110 WHEN 'smallmoney' THEN 110
            WHEN 'float' THEN 109 WHEN 'real' THEN 109 WHEN 'varchar' THEN 39 WHEN 'char' THEN 47
            WHEN 'datetime' THEN 111 WHEN 'smalldatetime' THEN 111 WHEN 'binary' THEN 45 WHEN 'varbinary' THEN 37
            WHEN 'uniqueidentifier' THEN 37 WHEN 'nvarchar' THEN 39 WHEN 'nchar' THEN 39 ELSE 0 END)::mssql.tinyint
    FROM mssql.columns c JOIN mssql.databases d ON lower(d.name::text) = c.db
    CROSS JOIN LATERAL (SELECT CASE WHEN odbcver IS DISTINCT FROM 3 THEN c.odbc_type
        WHEN c.type_name::text = 'date' THEN 91 WHEN c.type_name::text IN ('datetime', 'smalldatetime', 'datetime2') THEN 93
        WHEN c.type_name::text = 'time' THEN -154 WHEN c.type_name::text = 'datetimeoffset' THEN -155
        ELSE c.odbc_type END AS type) o
    WHERE c.db = lower(coalesce(sp_columns.table_qualifier, db_name))
        AND mssql.matches(c.table_name::text, sp_columns.table_name)
        AND mssql.matches(c.schema_name::text, sp_columns.table_owner)
        AND mssql.matches(c.name::text, sp_columns.column_name)
    ORDER BY c.schema_name::text, c.table_name::text, c.column_id
$$;

CREATE FUNCTION mssql.sp_pkeys(db_name text, table_name text, table_owner text, table_qualifier text)
    RETURNS TABLE ("TABLE_QUALIFIER" mssql.nvarchar, "TABLE_OWNER" mssql.nvarchar,
        "TABLE_NAME" mssql.nvarchar, "COLUMN_NAME" mssql.nvarchar, "KEY_SEQ" smallint,
        "PK_NAME" mssql.nvarchar) LANGUAGE sql STABLE AS $$
    SELECT d.name, c.schema_name, c.table_name, k.name, u.position::smallint, c.name
    FROM mssql.constraints c JOIN mssql.databases d ON lower(d.name::text) = c.db
    CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS u(attnum, position)
    JOIN mssql.columns k ON k.relid = c.relid AND k.column_id = u.attnum
    WHERE c.contype = 'p' AND c.db = lower(coalesce(sp_pkeys.table_qualifier, db_name))
        AND mssql.matches(c.table_name::text, sp_pkeys.table_name)
        AND mssql.matches(c.schema_name::text, sp_pkeys.table_owner)
    ORDER BY c.schema_name::text, c.table_name::text, u.position
$$;

CREATE FUNCTION mssql.sp_fkeys(db_name text, pktable_name text, pktable_owner text,
    pktable_qualifier text, fktable_name text, fktable_owner text, fktable_qualifier text)
    RETURNS TABLE ("PKTABLE_QUALIFIER" mssql.nvarchar, "PKTABLE_OWNER" mssql.nvarchar,
        "PKTABLE_NAME" mssql.nvarchar, "PKCOLUMN_NAME" mssql.nvarchar,
        "FKTABLE_QUALIFIER" mssql.nvarchar, "FKTABLE_OWNER" mssql.nvarchar,
        "FKTABLE_NAME" mssql.nvarchar, "FKCOLUMN_NAME" mssql.nvarchar, "KEY_SEQ" smallint,
        "UPDATE_RULE" smallint, "DELETE_RULE" smallint, "FK_NAME" mssql.nvarchar,
        "PK_NAME" mssql.nvarchar, "DEFERRABILITY" smallint) LANGUAGE sql STABLE AS $$
    SELECT d.name, p.schema_name, p.name, pk.name, d.name, c.schema_name, c.table_name, fk.name,
        u.position::smallint,
        (ARRAY[1, 0, 2, 3])[mssql.reference_action(c.confupdtype) + 1]::smallint,
        (ARRAY[1, 0, 2, 3])[mssql.reference_action(c.confdeltype) + 1]::smallint,
        c.name, k.name, 7::smallint
    FROM mssql.constraints c JOIN mssql.databases d ON lower(d.name::text) = c.db
    JOIN mssql.relations p ON p.relid = c.confrelid
    CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS u(attnum, position)
    JOIN mssql.columns fk ON fk.relid = c.relid AND fk.column_id = u.attnum
    JOIN mssql.columns pk ON pk.relid = c.confrelid AND pk.column_id = c.confkey[u.position]
    LEFT JOIN mssql.constraints k ON k.conindid = c.conindid AND k.contype IN ('p', 'u')
    WHERE c.contype = 'f' AND c.db = lower(coalesce(fktable_qualifier, pktable_qualifier, db_name))
        AND mssql.matches(p.name::text, pktable_name) AND mssql.matches(p.schema_name::text, pktable_owner)
        AND mssql.matches(c.table_name::text, fktable_name) AND mssql.matches(c.schema_name::text, fktable_owner)
    ORDER BY c.schema_name::text, c.table_name::text, u.position
$$;

CREATE FUNCTION mssql.sp_statistics(db_name text, table_name text, table_owner text,
    table_qualifier text, index_name text, is_unique text, accuracy text)
    RETURNS TABLE ("TABLE_QUALIFIER" mssql.nvarchar, "TABLE_OWNER" mssql.nvarchar,
        "TABLE_NAME" mssql.nvarchar, "NON_UNIQUE" smallint, "INDEX_QUALIFIER" mssql.nvarchar,
        "INDEX_NAME" mssql.nvarchar, "TYPE" smallint, "SEQ_IN_INDEX" smallint,
        "COLUMN_NAME" mssql.nvarchar, "COLLATION" char(1), "CARDINALITY" integer, "PAGES" integer,
        "FILTER_CONDITION" varchar) LANGUAGE sql STABLE AS $$
    SELECT d.name, r.schema_name, r.name, (1 - i.is_unique::integer)::smallint, r.name, i.name,
        (CASE i.type::integer WHEN 1 THEN 1 ELSE 3 END)::smallint, k.index_column_id::smallint, c.name,
        CASE WHEN k.is_descending_key = 1 THEN 'D' ELSE 'A' END::char(1), NULL::integer, NULL::integer, NULL::varchar
    FROM mssql_sys.indexes i JOIN mssql.relations r ON r.relid::integer = i.object_id
    JOIN mssql.databases d ON lower(d.name::text) = r.db
    JOIN mssql_sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.is_included_column = 0
    JOIN mssql.columns c ON c.relid = r.relid AND c.column_id = k.column_id
    WHERE r.db = lower(coalesce(sp_statistics.table_qualifier, db_name))
        AND mssql.matches(r.name::text, sp_statistics.table_name)
        AND mssql.matches(r.schema_name::text, sp_statistics.table_owner)
        AND (coalesce(sp_statistics.is_unique, 'N') <> 'Y' OR i.is_unique = 1)
    ORDER BY 4, 7, 6, 8
$$;

CREATE FUNCTION mssql.sp_datatype_info(db_name text, data_type integer, odbcver integer)
    RETURNS TABLE ("TYPE_NAME" mssql.nvarchar, "DATA_TYPE" smallint, "PRECISION" integer,
        "LITERAL_PREFIX" varchar, "LITERAL_SUFFIX" varchar, "CREATE_PARAMS" varchar,
        "NULLABLE" smallint, "CASE_SENSITIVE" smallint, "SEARCHABLE" smallint,
        "UNSIGNED_ATTRIBUTE" smallint, "MONEY" smallint, "AUTO_INCREMENT" smallint,
        "LOCAL_TYPE_NAME" mssql.nvarchar, "MINIMUM_SCALE" smallint, "MAXIMUM_SCALE" smallint,
        "SQL_DATA_TYPE" smallint, "SQL_DATETIME_SUB" smallint, "NUM_PREC_RADIX" integer,
        "INTERVAL_PRECISION" smallint, "USERTYPE" smallint) LANGUAGE sql STABLE AS $$
    SELECT t.name, o.type::smallint,
        CASE WHEN t.name::text IN ('nvarchar', 'nchar') THEN 4000 WHEN t.bytes < 0 AND t.digits = 0 THEN 8000 ELSE t.digits END,
        t.literal_prefix::varchar, t.literal_suffix::varchar,
        CASE WHEN t.name::text = 'decimal' THEN 'precision,scale' WHEN t.bytes < 0 THEN 'max length' END::varchar,
        1::smallint, (t.name::text ~ 'char')::integer::smallint, 3::smallint,
        (CASE WHEN t.name::text ~ 'int|decimal|money|float|real' THEN (t.name::text = 'tinyint')::integer END)::smallint,
        (t.name::text ~ 'money')::integer::smallint,
        (CASE WHEN t.name::text ~ 'int|decimal|money|float|real' THEN 0 END)::smallint, t.name,
        (CASE WHEN t.name::text ~ 'int|decimal|money|time|date' THEN 0 END)::smallint,
        (CASE WHEN t.name::text = 'decimal' THEN 38 WHEN t.name::text ~ 'int|money|time|date' THEN t.scale END)::smallint,
        (CASE WHEN o.type IN (91, 93) THEN 9 ELSE o.type END)::smallint,
        (CASE o.type WHEN 91 THEN 1 WHEN 93 THEN 3 END)::smallint,
        CASE WHEN t.name::text IN ('float', 'real') THEN 2 WHEN t.name::text ~ 'int|decimal|money' THEN 10 END,
        NULL::smallint, 0::smallint
    FROM mssql.types t
    CROSS JOIN LATERAL (SELECT CASE WHEN odbcver IS DISTINCT FROM 3 THEN t.odbc_type
        WHEN t.name::text = 'date' THEN 91
        WHEN t.name::text IN ('datetime', 'smalldatetime', 'datetime2') THEN 93
        WHEN t.name::text = 'time' THEN -154 WHEN t.name::text = 'datetimeoffset' THEN -155
        ELSE t.odbc_type END AS type) o
    WHERE t.pg <> 'text'::regtype AND coalesce(sp_datatype_info.data_type, 0) IN (0, o.type)
    ORDER BY 2, CASE t.name::text WHEN 'datetime2' THEN 0 WHEN 'datetime' THEN 1 ELSE 2 END, 1
$$;

CREATE FUNCTION mssql.sp_databases(db_name text)
    RETURNS TABLE ("DATABASE_NAME" mssql.nvarchar, "DATABASE_SIZE" integer, "REMARKS" varchar)
    LANGUAGE sql STABLE AS $$
    SELECT d.name, (pg_database_size(current_database()) / 1024)::integer, NULL::varchar FROM mssql.databases d ORDER BY 1
$$;

CREATE FUNCTION mssql.sp_helptext(db_name text, objname text, columnname text)
    RETURNS TABLE ("Text" mssql.nvarchar) LANGUAGE sql STABLE AS $$
    SELECT line::mssql.nvarchar FROM mssql.modules m, regexp_split_to_table(m.definition::text, E'(?<=\n)') line
    WHERE m.object_id = mssql.object_id(db_name, objname) OR (m.db = lower(db_name)
        AND m.schema_name || '.' || lower(m.name::text) IN (lower(objname), 'dbo.' || lower(objname)))
$$;

CREATE FUNCTION mssql.sp_rename(db_name text, objname text, newname text, objtype text) RETURNS void
    LANGUAGE plpgsql AS $$
DECLARE
    parts text[] := mssql.name_parts(objname);
    count integer := cardinality(parts);
    kind text := upper(coalesce(objtype, 'OBJECT'));
    table_at integer := count - CASE WHEN kind IN ('COLUMN', 'INDEX') THEN 1 ELSE 0 END;
    home text := mssql.schema_of(db_name, CASE WHEN table_at >= 2 THEN parts[table_at - 1] ELSE 'dbo' END);
    old name := lower(parts[count])::name;
    target regclass := to_regclass(format('%I.%I', home, lower(parts[table_at])));
    bound pg_constraint;
    named mssql.defaults;
BEGIN
    IF kind = 'OBJECT' AND (SELECT c.relkind FROM pg_class c WHERE c.oid = target) IS DISTINCT FROM 'r' THEN
        SELECT * INTO bound FROM pg_constraint c
            WHERE c.connamespace = to_regnamespace(quote_ident(home)) AND c.conname = old;
        SELECT d.* INTO named FROM mssql.defaults d JOIN pg_class c ON c.oid = d.relid
            WHERE c.relnamespace = to_regnamespace(quote_ident(home)) AND lower(d.name::text) = old;
        target := coalesce(bound.conrelid, named.relid)::regclass;
    END IF;
    IF target IS NULL OR kind NOT IN ('COLUMN', 'OBJECT', 'INDEX') THEN
        RAISE EXCEPTION 'Either the parameter @objname is ambiguous or the claimed @objtype (%) is wrong.', kind
            USING ERRCODE = 'MSSQL', DETAIL = '15248,11,1';
    END IF;
    IF EXISTS (SELECT FROM mssql.cdc_tables t WHERE t.source_oid::oid = target::oid) THEN
        RAISE EXCEPTION 'Cannot alter the table ''%'' because the table is being published for replication or enabled for Change Data Capture.', parts[table_at]
            USING ERRCODE = 'MSSQL', DETAIL = '4928,16,1';
    END IF;
    IF kind = 'COLUMN' THEN
        EXECUTE format('ALTER TABLE %s RENAME COLUMN %I TO %I', target, old, lower(newname));
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', target, lower(newname), newname);
    ELSIF kind = 'INDEX' THEN
        EXECUTE format('ALTER INDEX %I.%I RENAME TO %I', home, old, lower(newname));
        EXECUTE format('COMMENT ON INDEX %I.%I IS %L', home, lower(newname), newname);
    ELSIF bound.oid IS NOT NULL THEN
        EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', target, old, lower(newname));
        EXECUTE format('COMMENT ON CONSTRAINT %I ON %s IS %L', lower(newname), target, newname);
        IF bound.contype IN ('p', 'u') THEN
            EXECUTE format('COMMENT ON INDEX %I.%I IS %L', home, lower(newname), newname);
        END IF;
    ELSIF named.relid IS NOT NULL THEN
        UPDATE mssql.defaults d SET name = newname WHERE d.relid = named.relid AND d.attnum = named.attnum;
    ELSE
        EXECUTE format('ALTER TABLE %s RENAME TO %I', target, lower(newname));
        EXECUTE format('COMMENT ON TABLE %s IS %L', target, newname);
    END IF;
END $$;

-- Change data capture: help, jobs, cleanup.
CREATE FUNCTION mssql.sp_cdc_help_change_data_capture(db_name text, wanted_schema text, wanted_name text)
    RETURNS TABLE (source_schema mssql.nvarchar, source_table mssql.nvarchar,
        capture_instance mssql.nvarchar, object_id integer, source_object_id integer,
        start_lsn mssql.binary, end_lsn mssql.binary, supports_net_changes mssql.bit,
        has_drop_pending mssql.bit, role_name mssql.nvarchar, index_name mssql.nvarchar,
        filegroup_name mssql.nvarchar, create_date mssql.datetime, index_column_list mssql.nvarchar,
        captured_column_list mssql.nvarchar) LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM mssql.cdc_databases c WHERE c.db = lower(db_name)) THEN
        RAISE EXCEPTION 'The database ''%'' is not enabled for Change Data Capture. Ensure that the correct database context is set and retry the operation.', db_name
            USING ERRCODE = 'MSSQL', DETAIL = '22901,16,1';
    END IF;
    RETURN QUERY SELECT r.schema_name, r.name, t.capture_instance, t.object_id, t.source_oid, t.start_lsn,
        NULL::mssql.binary, t.supports_net_changes::mssql.bit, NULL::mssql.bit, t.role_name, t.index_name,
        t.filegroup_name, t.create_date,
        (SELECT string_agg('[' || c.column_name::text || ']', ', ' ORDER BY array_position(t.key_columns, c.attname::text))
            FROM mssql.cdc_columns c WHERE c.object_id = t.object_id AND c.attname = ANY (t.key_columns))::mssql.nvarchar,
        (SELECT string_agg('[' || c.column_name::text || ']', ', ' ORDER BY c.column_ordinal)
            FROM mssql.cdc_columns c WHERE c.object_id = t.object_id)::mssql.nvarchar
    FROM mssql.cdc_tables t JOIN mssql.relations r ON r.relid::integer = t.source_oid
    WHERE t.db = lower(db_name) AND (wanted_schema IS NULL OR lower(r.schema_name::text) = lower(wanted_schema))
        AND (wanted_name IS NULL OR lower(r.name::text) = lower(wanted_name))
    ORDER BY t.object_id;
END $$;
CREATE FUNCTION mssql.sp_cdc_help_jobs(db_name text)
    RETURNS TABLE (job_id uuid, job_type mssql.nvarchar, job_name mssql.nvarchar, maxtrans integer,
        maxscans integer, continuous mssql.bit, pollinginterval bigint, retention bigint, threshold bigint)
    LANGUAGE sql STABLE AS $$
    SELECT NULL::uuid, 'capture'::mssql.nvarchar, ('cdc.' || db_name || '_capture')::mssql.nvarchar, 500, 10,
        1::mssql.bit, floor(c.polling_seconds)::bigint, 0::bigint, 0::bigint FROM mssql.cdc_databases c WHERE c.db = lower(db_name)
    UNION ALL SELECT NULL, 'cleanup', ('cdc.' || db_name || '_cleanup')::mssql.nvarchar, 0, 0, 0::mssql.bit, 0::bigint,
        c.retention_minutes, c.cleanup_threshold FROM mssql.cdc_databases c WHERE c.db = lower(db_name)
$$;
CREATE FUNCTION mssql.sp_cdc_change_job(db_name text, job_type text, maxtrans integer, maxscans integer,
    continuous integer, pollinginterval numeric, retention bigint, threshold bigint) RETURNS void LANGUAGE sql VOLATILE AS $$
    UPDATE mssql.cdc_databases SET
        polling_seconds = CASE WHEN lower(coalesce(job_type, 'capture')) = 'capture' THEN coalesce(pollinginterval, polling_seconds) ELSE polling_seconds END,
        retention_minutes = CASE WHEN lower(job_type) = 'cleanup' THEN coalesce(retention, retention_minutes) ELSE retention_minutes END,
        cleanup_threshold = CASE WHEN lower(job_type) = 'cleanup' THEN coalesce(threshold, cleanup_threshold) ELSE cleanup_threshold END
    WHERE db = lower(db_name)
$$;
CREATE FUNCTION mssql.sp_cdc_start_job(db_name text, job_type text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF lower(coalesce(job_type, 'capture')) = 'cleanup' THEN
        PERFORM mssql.cdc_cleanup(lower(db_name));
    ELSE
        UPDATE mssql.cdc_databases SET stopped_at = NULL WHERE db = lower(db_name);
    END IF;
END $$;
CREATE FUNCTION mssql.sp_cdc_stop_job(db_name text, job_type text) RETURNS void LANGUAGE sql VOLATILE AS $$
    UPDATE mssql.cdc_databases SET stopped_at = clock_timestamp()
    WHERE db = lower(db_name) AND lower(coalesce(job_type, 'capture')) = 'capture'
$$;
CREATE FUNCTION mssql.sp_cdc_get_captured_columns(db_name text, wanted text)
    RETURNS TABLE (source_schema mssql.nvarchar, source_table mssql.nvarchar, capture_instance mssql.nvarchar,
        column_name mssql.nvarchar, column_id integer, column_type mssql.nvarchar, column_ordinal integer, is_computed mssql.bit)
    LANGUAGE sql STABLE AS $$
    SELECT r.schema_name, r.name, t.capture_instance, c.column_name, c.column_id, c.column_type, c.column_ordinal, c.is_computed
    FROM mssql.cdc_tables t JOIN mssql.cdc_columns c ON c.object_id = t.object_id
    JOIN mssql.relations r ON r.relid::integer = t.source_oid
    WHERE t.db = lower(db_name) AND lower(t.capture_instance::text) = lower(wanted) ORDER BY c.column_ordinal
$$;
CREATE FUNCTION mssql.sp_cdc_get_ddl_history(db_name text, wanted text)
    RETURNS TABLE (source_schema mssql.nvarchar, source_table mssql.nvarchar, capture_instance mssql.nvarchar,
        required_column_update mssql.bit, ddl_command mssql.nvarchar, ddl_lsn mssql.binary, ddl_time mssql.datetime)
    LANGUAGE sql STABLE AS $$
    SELECT r.schema_name, r.name, t.capture_instance, d.required_column_update, d.ddl_command, d.ddl_lsn, d.ddl_time
    FROM mssql.cdc_ddl d JOIN mssql.cdc_tables t ON t.object_id = d.object_id
    JOIN mssql.relations r ON r.relid::integer = t.source_oid
    WHERE t.db = lower(db_name) AND lower(t.capture_instance::text) = lower(wanted) ORDER BY d.ddl_lsn
$$;
CREATE FUNCTION mssql.sp_cdc_cleanup_change_table(db_name text, wanted text, low_water_mark bytea, threshold bigint)
    RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    id integer := (SELECT t.object_id FROM mssql.cdc_tables t WHERE t.db = lower(db_name) AND lower(t.capture_instance::text) = lower(wanted));
BEGIN
    IF id IS NULL THEN
        RAISE EXCEPTION 'The capture instance name ''%'' is invalid.', wanted USING ERRCODE = 'MSSQL', DETAIL = '22964,16,1';
    END IF;
    PERFORM mssql.cdc_clean_instance(id, low_water_mark);
END $$;
