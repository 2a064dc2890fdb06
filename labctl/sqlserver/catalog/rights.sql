-- The role that clients are served by. It owns what clients make, and may use what is installed
-- here. It has no other rights: no superuser's, no files or programs, no other database.

CREATE FUNCTION mssql.service_role() RETURNS text LANGUAGE sql STABLE
    RETURN (SELECT 'mssql_' || d.oid FROM pg_database d WHERE d.datname = current_database());

-- Makes the role, or makes sure that it is what it was; `verifier` is its password's SCRAM verifier.
CREATE FUNCTION mssql.let_serve(role text, verifier text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    member_of text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = role) THEN
        EXECUTE format('CREATE ROLE %I', role);
    END IF;
    SELECT string_agg(m.roleid::regrole::text, ', ') INTO member_of FROM pg_auth_members m
        WHERE m.member = (SELECT r.oid FROM pg_roles r WHERE r.rolname = role);
    IF member_of IS NOT NULL THEN
        RAISE EXCEPTION 'the role % that clients are served by is a member of %: revoke that', role, member_of;
    END IF;
    EXECUTE format('ALTER ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD %L',
        role, verifier);
    -- What sorting and joining may put on disk: a cross join would fill it.
    EXECUTE format('ALTER ROLE %I SET temp_file_limit = %L', role, '4GB');
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT, CREATE, TEMPORARY ON DATABASE %I TO %I', current_database(), role);
    EXECUTE format('GRANT USAGE ON SCHEMA mssql, mssql_sys, mssql_info TO %I', role);
    EXECUTE format('GRANT USAGE, CREATE ON SCHEMA mssql_cdc TO %I', role);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA mssql, mssql_sys, mssql_info TO %I', role);
    EXECUTE format('GRANT INSERT, UPDATE, DELETE ON mssql.databases, mssql.schemas, mssql.modules,
        mssql.defaults, mssql.extended_properties, mssql.checks, mssql.cdc_databases, mssql.cdc_tables, mssql.cdc_columns,
        mssql.cdc_ddl TO %I', role);
    PERFORM mssql.hand_over(role);
END $$;

-- Gives the role what is in clients' schemas: PostgreSQL's own clients may have made some of it.
CREATE FUNCTION mssql.hand_over(role text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found record;
    owner oid := (SELECT r.oid FROM pg_roles r WHERE r.rolname = role);
BEGIN
    FOR found IN
        SELECT 'SCHEMA' AS kind, format('%I', n.nspname) AS name FROM pg_namespace n
            JOIN mssql.schemas s ON s.relname = n.nspname WHERE n.nspowner <> owner
        UNION ALL
        SELECT CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' WHEN 'c' THEN 'TYPE' ELSE 'TABLE' END,
            format('%I.%I', n.nspname, c.relname)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relowner <> owner AND c.relkind IN ('r', 'p', 'v', 'S', 'c')
            AND (n.nspname = 'mssql_cdc' OR n.nspname IN (SELECT s.relname FROM mssql.schemas s))
            AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass
                AND d.objid = c.oid AND c.relkind = 'S' AND d.deptype IN ('a', 'i'))
        UNION ALL
        SELECT 'ROUTINE', format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid))
            FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE p.proowner <> owner
            AND (n.nspname = 'mssql_cdc' OR n.nspname IN (SELECT s.relname FROM mssql.schemas s))
    LOOP
        EXECUTE format('ALTER %s %s OWNER TO %I', found.kind, found.name, role);
    END LOOP;
END $$;

-- Once functions and views are replaced: each database's views of the catalog, and each capture instance's trigger.
CREATE FUNCTION mssql.drop_catalog_views() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    views text;
BEGIN
    SELECT string_agg(format('%I.%I', n.nspname, c.relname), ', ') INTO views
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'v' AND (n.nspname IN ('mssql_sys', 'mssql_info') OR n.nspname IN (
            SELECT s.relname FROM mssql.schemas s WHERE s.name::text IN ('sys', 'INFORMATION_SCHEMA')));
    IF views IS NOT NULL THEN EXECUTE 'DROP VIEW ' || views; END IF;
END $$;
CREATE FUNCTION mssql.install_catalog_views() RETURNS void LANGUAGE sql AS $$
    SELECT mssql.install_views(lower(d.name::text), 'mssql_sys', 'sys'),
        mssql.install_views(lower(d.name::text), 'mssql_info', 'INFORMATION_SCHEMA')
    FROM mssql.databases d;
    SELECT mssql.cdc_generate(t.object_id) FROM mssql.cdc_tables t
    WHERE EXISTS (SELECT FROM pg_class c WHERE c.oid = t.source_oid::oid);
$$;
