-- Databases, schemas, stored modules, and the views each database gets.

CREATE FUNCTION mssql.schema_of(db text, schema_name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT
    RETURN lower(db) || '.' || lower(schema_name);

CREATE FUNCTION mssql.add_schema(db_name text, schema_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    target text := mssql.schema_of(db_name, schema_name);
BEGIN
    IF EXISTS (SELECT FROM mssql.schemas s WHERE s.relname = target) THEN
        RAISE EXCEPTION 'There is already an object named ''%'' in the database.', schema_name
            USING ERRCODE = 'MSSQL', DETAIL = '2714,16,6';
    END IF;
    EXECUTE format('CREATE SCHEMA %I', target);
    INSERT INTO mssql.schemas VALUES (target, lower(db_name), schema_name);
END $$;

CREATE FUNCTION mssql.install_views(db_name text, origin text, schema_name text) RETURNS void
    LANGUAGE plpgsql AS $$
DECLARE
    found record;
    target text := mssql.schema_of(db_name, schema_name);
    part record;
BEGIN
    FOR found IN SELECT c.oid, c.relname FROM pg_class c
        WHERE c.relnamespace = origin::regnamespace AND c.relkind = 'v' ORDER BY c.oid
    LOOP
        EXECUTE format('CREATE VIEW %I.%I AS SELECT %s FROM %s.%I WHERE db IS NULL OR db = %L',
            target, found.relname,
            (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
                WHERE a.attrelid = found.oid AND a.attnum > 1
                AND NOT (a.attname = 'of_view')),
            origin, found.relname, db_name);
        IF origin = 'mssql_info' THEN
            EXECUTE format('COMMENT ON VIEW %I.%I IS %L', target, found.relname, upper(found.relname));
            FOR part IN SELECT a.attname FROM pg_attribute a
                WHERE a.attrelid = found.oid AND a.attnum > 1
            LOOP
                EXECUTE format('COMMENT ON COLUMN %I.%I.%I IS %L', target, found.relname,
                    part.attname, upper(part.attname));
            END LOOP;
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION mssql.create_database(shown_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    db_name text := lower(shown_name);
BEGIN
    IF EXISTS (SELECT FROM mssql.databases d WHERE lower(d.name::text) = db_name) THEN
        RAISE EXCEPTION 'Database ''%'' already exists. Choose a different database name.', shown_name
            USING ERRCODE = 'MSSQL', DETAIL = '1801,16,3';
    END IF;
    -- "<database>.<schema>" is one name in PostgreSQL: with a dot it could be another database's.
    IF strpos(shown_name, '.') > 0 THEN
        RAISE EXCEPTION 'A database name with a dot is not supported by this SQL Server stand-in.'
            USING ERRCODE = 'MSSQL', DETAIL = '40517,16,1';
    END IF;
    INSERT INTO mssql.databases (name) VALUES (shown_name);
    PERFORM mssql.add_schema(db_name, 'dbo');
    PERFORM mssql.add_schema(db_name, 'sys');
    PERFORM mssql.add_schema(db_name, 'INFORMATION_SCHEMA');
    PERFORM mssql.install_views(db_name, 'mssql_sys', 'sys');
    PERFORM mssql.install_views(db_name, 'mssql_info', 'INFORMATION_SCHEMA');
END $$;

CREATE FUNCTION mssql.drop_database(shown_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    db_name text := lower(shown_name);
    found record;
BEGIN
    IF NOT EXISTS (SELECT FROM mssql.databases d WHERE lower(d.name::text) = db_name) THEN
        RAISE EXCEPTION 'Cannot drop the database ''%'', because it does not exist or you do not have permission.', shown_name
            USING ERRCODE = 'MSSQL', DETAIL = '3701,11,1';
    END IF;
    IF EXISTS (SELECT FROM mssql.cdc_databases c WHERE c.db = db_name) THEN
        PERFORM mssql.cdc_disable_db(db_name);
    END IF;
    FOR found IN SELECT s.relname FROM mssql.schemas s WHERE s.db = db_name LOOP
        EXECUTE format('DROP SCHEMA %I CASCADE', found.relname);
    END LOOP;
    DELETE FROM mssql.schemas WHERE db = db_name;
    DELETE FROM mssql.modules WHERE db = db_name;
    DELETE FROM mssql.databases WHERE lower(name::text) = db_name;
END $$;

-- Names and ids.
CREATE FUNCTION mssql.db_id(text) RETURNS integer LANGUAGE sql STABLE
    RETURN (SELECT d.database_id FROM mssql.databases d WHERE lower(d.name::text) = lower($1));
CREATE FUNCTION mssql.db_name(integer) RETURNS mssql.nvarchar LANGUAGE sql STABLE
    RETURN (SELECT d.name FROM mssql.databases d WHERE d.database_id = $1);
CREATE FUNCTION mssql.object_name(integer, integer DEFAULT NULL) RETURNS mssql.nvarchar
    LANGUAGE sql STABLE RETURN coalesce((SELECT r.name FROM mssql.relations r WHERE r.relid::integer = $1),
        (SELECT c.name FROM mssql.constraints c WHERE c.constraint_oid::integer = $1),
        (SELECT d.name FROM mssql.default_constraints d WHERE d.object_id = $1),
        (SELECT m.name FROM mssql.modules m WHERE m.object_id = $1));
CREATE FUNCTION mssql.object_schema_name(integer, integer DEFAULT NULL) RETURNS mssql.nvarchar
    LANGUAGE sql STABLE RETURN (SELECT r.schema_name FROM mssql.relations r WHERE r.relid::integer = $1);
CREATE FUNCTION mssql.schema_name(integer) RETURNS mssql.nvarchar LANGUAGE sql STABLE
    RETURN (SELECT s.name FROM mssql.schemas s JOIN pg_namespace n ON n.nspname = s.relname
        WHERE n.oid::integer = $1);
CREATE FUNCTION mssql.schema_id(current_db text, text) RETURNS integer LANGUAGE sql STABLE
    RETURN (SELECT n.oid::integer FROM mssql.schemas s JOIN pg_namespace n ON n.nspname = s.relname
        WHERE s.db = lower($1) AND lower(s.name::text) = lower($2));
CREATE FUNCTION mssql.name_parts(text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT RETURN (
    SELECT array_agg(coalesce(replace(m[1], ']]', ']'), m[2], m[3], '') ORDER BY n)
    FROM regexp_matches($1, '(?:\[((?:[^\]]|\]\])*)\]|"([^"]*)"|([^.\[\]"]*))(?:\.|$)', 'g')
        WITH ORDINALITY AS parts(m, n)
    WHERE coalesce(m[1], m[2], m[3]) <> '' OR n < (SELECT count(*) FROM regexp_matches($1, '\.', 'g')) + 1);
CREATE FUNCTION mssql.object_id(current_db text, object text, kind text DEFAULT NULL) RETURNS integer
    LANGUAGE plpgsql STABLE AS $$
DECLARE
    parts text[] := mssql.name_parts(object);
    count integer := cardinality(parts);
    wanted_db text := CASE WHEN count >= 3 AND parts[count - 2] <> '' THEN lower(parts[count - 2]) ELSE lower(current_db) END;
    wanted_schema text := CASE WHEN count >= 2 AND parts[count - 1] <> '' THEN lower(parts[count - 1]) ELSE 'dbo' END;
BEGIN
    IF parts[count] LIKE '#%' OR (wanted_db = 'tempdb' AND parts[count] LIKE '#%') THEN
        RETURN (SELECT c.oid::integer FROM pg_class c
            WHERE c.relnamespace = pg_my_temp_schema() AND c.relname = lower(parts[count]));
    END IF;
    RETURN coalesce(
        (SELECT r.relid::integer FROM mssql.relations r
        WHERE r.db = wanted_db AND lower(r.schema_name::text) = wanted_schema
            AND lower(r.name::text) = lower(parts[count])
            AND (kind IS NULL OR kind = CASE r.relkind WHEN 'v' THEN 'V' ELSE 'U' END)),
        (SELECT m.object_id FROM mssql.modules m WHERE m.db = wanted_db
            AND m.schema_name = wanted_schema AND lower(m.name::text) = lower(parts[count])
            AND (kind IS NULL OR kind = rtrim(m.type))),
        (SELECT c.constraint_oid::integer FROM mssql.constraints c WHERE c.db = wanted_db
            AND lower(c.schema_name::text) = wanted_schema AND lower(c.name::text) = lower(parts[count])
            AND (kind IS NULL OR kind = CASE c.contype WHEN 'p' THEN 'PK' WHEN 'u' THEN 'UQ'
                WHEN 'f' THEN 'F' ELSE 'C' END)),
        (SELECT d.object_id FROM mssql.default_constraints d WHERE d.db = wanted_db
            AND lower(d.schema_name::text) = wanted_schema AND lower(d.name::text) = lower(parts[count])
            AND (kind IS NULL OR kind = 'D')));
END $$;
CREATE FUNCTION mssql.col_name(integer, integer) RETURNS mssql.nvarchar LANGUAGE sql STABLE
    RETURN (SELECT c.name FROM mssql.columns c WHERE c.relid::integer = $1 AND c.column_id = $2);
CREATE FUNCTION mssql.col_length(current_db text, text, text) RETURNS smallint LANGUAGE sql STABLE
    RETURN (SELECT c.max_length::smallint FROM mssql.columns c
        WHERE c.relid::integer = mssql.object_id($1, $2) AND lower(c.name::text) = lower($3));
CREATE FUNCTION mssql.columnproperty(integer, text, text) RETURNS integer LANGUAGE sql STABLE
    RETURN (SELECT CASE lower($3) WHEN 'isidentity' THEN c.is_identity::integer
        WHEN 'allowsnull' THEN c.is_nullable::integer WHEN 'iscomputed' THEN c.is_computed::integer
        WHEN 'columnid' THEN c.column_id WHEN 'precision' THEN c.precision END
        FROM mssql.columns c WHERE c.relid::integer = $1 AND lower(c.name::text) = lower($2));
CREATE FUNCTION mssql.objectproperty(integer, text) RETURNS integer LANGUAGE sql STABLE
    RETURN (SELECT CASE lower($2) WHEN 'istable' THEN (r.relkind = 'r')::integer
        WHEN 'isusertable' THEN (r.relkind = 'r')::integer WHEN 'isview' THEN (r.relkind = 'v')::integer
        WHEN 'ismsshipped' THEN (r.schema_name::text IN ('sys', 'INFORMATION_SCHEMA', 'cdc'))::integer
        WHEN 'tablehasidentity' THEN EXISTS (SELECT FROM pg_attribute a
            WHERE a.attrelid = r.relid AND a.attidentity <> '')::integer
        WHEN 'tablehasprimarykey' THEN EXISTS (SELECT FROM pg_constraint c
            WHERE c.conrelid = r.relid AND c.contype = 'p')::integer END
        FROM mssql.relations r WHERE r.relid::integer = $1);
CREATE FUNCTION mssql.type_name(integer) RETURNS mssql.nvarchar LANGUAGE sql STABLE
    RETURN CASE $1 WHEN 256 THEN 'sysname' ELSE
        (SELECT t.name FROM mssql.types t WHERE t.system_type_id = $1 AND t.pg <> 'text'::regtype) END;
CREATE FUNCTION mssql.type_id(text) RETURNS integer LANGUAGE sql STABLE
    RETURN (SELECT t.system_type_id FROM mssql.types t WHERE t.name::text = lower($1) AND t.pg <> 'text'::regtype);
-- The identity column's last value handed out in this session.
CREATE FUNCTION mssql.identity_sequence(regclass) RETURNS regclass LANGUAGE sql STABLE
    RETURN (SELECT pg_get_serial_sequence($1::text, a.attname)::regclass FROM pg_attribute a
        WHERE a.attrelid = $1 AND a.attidentity <> '');
CREATE FUNCTION mssql.ident_current(regclass) RETURNS numeric LANGUAGE sql STABLE
    RETURN (SELECT coalesce(pg_sequence_last_value(q.seqrelid), q.seqstart) FROM pg_sequence q
        WHERE q.seqrelid = mssql.identity_sequence($1));
CREATE FUNCTION mssql.reseed_after_explicit(target regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    identity_column name;
    highest bigint;
    sequence regclass := mssql.identity_sequence(target);
BEGIN
    SELECT a.attname INTO identity_column FROM pg_attribute a
        WHERE a.attrelid = target AND a.attidentity <> '';
    EXECUTE format('SELECT max(%I) FROM %s', identity_column, target) INTO highest;
    IF highest > coalesce(pg_sequence_last_value(sequence), 0) THEN
        PERFORM setval(sequence, highest);
    END IF;
END $$;
CREATE FUNCTION mssql.must_exist(kind text, shown text, id integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF id IS NULL THEN
        RAISE EXCEPTION 'Cannot drop the % ''%'', because it does not exist or you do not have permission.',
            CASE kind WHEN 'V' THEN 'view' ELSE 'procedure' END, shown
            USING ERRCODE = 'MSSQL', DETAIL = '3701,11,5';
    END IF;
END $$;
