-- Capturing changes. A deferred constraint trigger per capture instance writes the change rows at
-- COMMIT. The first one to fire in a transaction takes the database's advisory lock and then its
-- log sequence number; the lock is held until the transaction has become visible. So the order of
-- LSNs is the order of commits, for every writer, PostgreSQL's own clients included.
--
-- An LSN is 10 bytes: a 6-byte transaction number, then 4 bytes: the position of a change within
-- the transaction, and FFFFFFFE for the commit itself.

CREATE SCHEMA IF NOT EXISTS mssql_cdc;

CREATE FUNCTION mssql.cdc_lock(db text) RETURNS void LANGUAGE sql VOLATILE
    RETURN pg_advisory_xact_lock(hashtext('mssql.cdc'), hashtext(db));

CREATE FUNCTION mssql.lsn(number bigint, part bigint) RETURNS mssql.binary LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE
    RETURN (substr(int8send(number), 3) || substr(int8send(part), 5))::mssql.binary;

CREATE FUNCTION mssql.cdc_number(db text) RETURNS bigint LANGUAGE sql VOLATILE
    RETURN nextval(format('mssql_cdc.%I', db || '.lsn'));

-- The transaction's LSN: taken once, under the lock.
CREATE FUNCTION mssql.cdc_transaction(db text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    number bigint := nullif(current_setting('mssql.cdc_number', true), '')::bigint;
BEGIN
    IF number IS NOT NULL AND current_setting('mssql.cdc_db', true) = db THEN
        RETURN number;
    END IF;
    PERFORM mssql.cdc_lock(db);
    number := mssql.cdc_number(db);
    EXECUTE format('INSERT INTO mssql_cdc.%I VALUES ($1, $2, $3, $4, $5)', db || '.lsn_time_mapping')
        USING mssql.lsn(number, x'FFFFFFFE'::bigint),
            mssql.timestamp_datetime(transaction_timestamp() AT TIME ZONE 'UTC'),
            mssql.timestamp_datetime(clock_timestamp() AT TIME ZONE 'UTC'),
            substr(int8send(pg_current_xact_id()::text::bigint), 3), clock_timestamp();
    PERFORM set_config('mssql.cdc_number', number::text, true),
        set_config('mssql.cdc_db', db, true), set_config('mssql.cdc_change', '0', true);
    RETURN number;
END $$;
CREATE FUNCTION mssql.cdc_next_change() RETURNS bigint LANGUAGE sql VOLATILE
    RETURN set_config('mssql.cdc_change', (current_setting('mssql.cdc_change')::bigint + 1)::text, true)::bigint;

-- The update mask: one bit per captured column, the first in the last byte's lowest bit.
CREATE FUNCTION mssql.cdc_mask(changed boolean[]) RETURNS mssql.varbinary LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE RETURN decode((
        SELECT string_agg(lpad(to_hex(byte), 2, '0'), '' ORDER BY at DESC) FROM (
            SELECT (n - 1) / 8 AS at, sum(CASE WHEN bit THEN 1 << ((n - 1) % 8)::integer ELSE 0 END)::integer AS byte
            FROM unnest(changed) WITH ORDINALITY AS u(bit, n) GROUP BY 1) bytes), 'hex')::mssql.varbinary;

CREATE FUNCTION mssql.cdc_refuse_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'Cannot truncate table ''%'' because it is published for replication or enabled for Change Data Capture.', TG_TABLE_NAME
        USING ERRCODE = 'MSSQL', DETAIL = '4711,16,1';
END $$;

-- Generates the trigger function of one capture instance from its columns as they are now;
-- a captured column that was dropped from the source is NULL from then on.
CREATE FUNCTION mssql.cdc_generate(instance_id integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    instance mssql.cdc_tables;
    image text[] := '{}';
    changed text[] := '{}';
    keys text;
    col record;
    columns integer;
    row_of text;
    body text;
BEGIN
    SELECT * INTO STRICT instance FROM mssql.cdc_tables t WHERE t.object_id = instance_id;
    FOR col IN SELECT c.attname, EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = instance.source_oid::oid
            AND a.attname = c.attname AND NOT a.attisdropped) AS present
        FROM mssql.cdc_columns c WHERE c.object_id = instance_id ORDER BY c.column_ordinal
    LOOP
        image := image || CASE WHEN col.present THEN '%1$s.' || replace(quote_ident(col.attname), '%', '%%') ELSE 'NULL' END;
        changed := changed || CASE WHEN col.present
            THEN format('OLD.%1$I IS DISTINCT FROM NEW.%1$I', col.attname) ELSE 'false' END;
    END LOOP;
    columns := cardinality(image);
    row_of := format('INSERT INTO %s VALUES (mssql.lsn(number, %s), NULL, mssql.lsn(number, change), %%2$s, %%3$s, %s, change);',
        replace(instance.storage::regclass::text, '%', '%%'), x'FFFFFFFE'::bigint, array_to_string(image, ', '));
    SELECT string_agg(format('OLD.%1$I IS DISTINCT FROM NEW.%1$I', k), ' OR ') INTO keys
        FROM unnest(instance.key_columns) k
        WHERE EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = instance.source_oid::oid AND a.attname = k AND NOT a.attisdropped);
    body := format($make$
        DECLARE
            number bigint;
            change bigint;
            mask mssql.varbinary;
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                mask := mssql.cdc_mask(ARRAY[%1$s]);
                IF mask = %2$L::mssql.varbinary THEN RETURN NULL; END IF;
            END IF;
            number := mssql.cdc_transaction(%3$L);
            change := mssql.cdc_next_change();
            IF TG_OP = 'INSERT' THEN %4$s
            ELSIF TG_OP = 'DELETE' THEN %5$s
            ELSIF %6$s THEN
                %5$s
                change := mssql.cdc_next_change();
                %4$s
            ELSE
                %7$s
                %8$s
            END IF;
            RETURN NULL;
        END $make$,
        array_to_string(changed, ', '),
        mssql.cdc_mask(array_fill(false, ARRAY[columns])), instance.db,
        format(row_of, 'NEW', '2', format('%L', mssql.cdc_mask(array_fill(true, ARRAY[columns])))),
        format(row_of, 'OLD', '1', format('%L', mssql.cdc_mask(array_fill(true, ARRAY[columns])))),
        coalesce(keys, 'false'), format(row_of, 'OLD', '3', 'mask'), format(row_of, 'NEW', '4', 'mask'));
    EXECUTE format('CREATE OR REPLACE FUNCTION mssql_cdc.%I() RETURNS trigger LANGUAGE plpgsql
        SECURITY DEFINER SET search_path = mssql, pg_catalog, pg_temp AS %L',
        instance.db || '.' || lower(instance.capture_instance::text), body);
END $$;

CREATE FUNCTION mssql.cdc_enable_db(current_db text, polling numeric) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    db_name text := lower(current_db);
BEGIN
    IF db_name IN ('master', 'tempdb', 'model', 'msdb') THEN
        RAISE EXCEPTION 'The database ''%'' cannot be enabled for Change Data Capture.', current_db
            USING ERRCODE = 'MSSQL', DETAIL = '22902,16,1';
    END IF;
    IF EXISTS (SELECT FROM mssql.cdc_databases c WHERE c.db = db_name) THEN RETURN; END IF;
    INSERT INTO mssql.cdc_databases (db, polling_seconds) VALUES (db_name, polling);
    EXECUTE format('CREATE SEQUENCE mssql_cdc.%I START %s', db_name || '.lsn', x'250000'::bigint);
    EXECUTE format('CREATE TABLE mssql_cdc.%I (start_lsn mssql.binary(10) PRIMARY KEY,
        tran_begin_time mssql.datetime, tran_end_time mssql.datetime, tran_id mssql.varbinary(10),
        committed_at timestamptz)', db_name || '.lsn_time_mapping');
    PERFORM mssql.add_schema(db_name, 'cdc');
    PERFORM mssql.cdc_views(db_name);
END $$;

CREATE FUNCTION mssql.cdc_views(db_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    target text := db_name || '.cdc';
BEGIN
    EXECUTE format('CREATE VIEW %I.lsn_time_mapping AS SELECT start_lsn, tran_begin_time,
        tran_end_time, tran_id, (substr(start_lsn::bytea, 1, 6) || ''\x00000000''::bytea)::mssql.binary(10) AS tran_begin_lsn
        FROM mssql_cdc.%I WHERE committed_at <= mssql.cdc_horizon(%L)',
        target, db_name || '.lsn_time_mapping', db_name);
    EXECUTE format('CREATE VIEW %I.change_tables AS SELECT t.object_id, NULL::integer AS version,
        t.source_oid AS source_object_id, t.capture_instance, t.start_lsn,
        NULL::mssql.binary(10) AS end_lsn, t.supports_net_changes::mssql.bit AS supports_net_changes,
        NULL::mssql.bit AS has_drop_pending, t.role_name, t.index_name, t.filegroup_name,
        t.create_date, 1::mssql.bit AS partition_switch
        FROM mssql.cdc_tables t WHERE t.db = %L', target, db_name);
    EXECUTE format('CREATE VIEW %I.captured_columns AS SELECT c.object_id, c.column_name,
        c.column_id, c.column_type, c.column_ordinal, c.is_computed, NULL::mssql.nvarchar(4000) AS masking_function
        FROM mssql.cdc_columns c WHERE c.db = %L', target, db_name);
    EXECUTE format('CREATE VIEW %I.index_columns AS SELECT t.object_id, c.column_name,
        array_position(t.key_columns, c.attname::text)::mssql.tinyint AS index_ordinal, c.column_id
        FROM mssql.cdc_tables t JOIN mssql.cdc_columns c ON c.object_id = t.object_id
        AND c.attname = ANY (t.key_columns) WHERE t.db = %L', target, db_name);
    EXECUTE format('CREATE VIEW %I.ddl_history AS SELECT d.source_object_id, d.object_id,
        d.required_column_update, d.ddl_command, d.ddl_lsn, d.ddl_time
        FROM mssql.cdc_ddl d WHERE d.db = %L', target, db_name);
    EXECUTE format('CREATE VIEW %I.cdc_jobs AS SELECT mssql.db_id(%L) AS database_id,
        v.job_type::mssql.nvarchar(20) AS job_type, NULL::uuid AS job_id, 500 AS maxtrans, 10 AS maxscans,
        1::mssql.bit AS continuous, floor(j.polling_seconds)::bigint AS pollinginterval, j.retention_minutes AS retention,
        j.cleanup_threshold AS threshold FROM mssql.cdc_databases j,
        (VALUES (''capture''), (''cleanup'')) AS v(job_type) WHERE j.db = %L', target, db_name, db_name);
END $$;

CREATE FUNCTION mssql.cdc_enable_table(
    current_db text, source_schema text, source_name text, capture_instance text, role_name text,
    supports_net_changes integer, index_name text, captured_column_list text, filegroup_name text,
    allow_partition_switch integer DEFAULT NULL
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    db_name text := lower(current_db);
    source regclass := to_regclass(format('%I.%I', mssql.schema_of(current_db, source_schema), lower(source_name)));
    instance text := coalesce(capture_instance, source_schema || '_' || source_name);
    storage_name text := db_name || '.' || lower(instance) || '_ct';
    wanted text[] := (SELECT array_agg(lower(btrim(btrim(c), '[]'))) FROM regexp_split_to_table(captured_column_list, ',') c);
    keys text[];
    key_index oid;
    number bigint;
    id integer;
    missing text;
BEGIN
    IF NOT EXISTS (SELECT FROM mssql.cdc_databases c WHERE c.db = db_name) THEN
        RAISE EXCEPTION 'The database ''%'' is not enabled for Change Data Capture. Ensure that the correct database context is set and retry the operation.', current_db
            USING ERRCODE = 'MSSQL', DETAIL = '22901,16,1';
    END IF;
    IF source IS NULL THEN
        RAISE EXCEPTION 'Source table ''%.%'' does not exist in the current database. Ensure that the correct database context is set.', source_schema, source_name
            USING ERRCODE = 'MSSQL', DETAIL = '22931,16,1';
    END IF;
    IF EXISTS (SELECT FROM mssql.cdc_tables t WHERE t.db = db_name AND lower(t.capture_instance::text) = lower(instance)) THEN
        RAISE EXCEPTION 'Could not create a capture instance because the capture instance name ''%'' already exists in the current database.', instance
            USING ERRCODE = 'MSSQL', DETAIL = '22926,16,1';
    END IF;
    IF (SELECT count(*) FROM mssql.cdc_tables t WHERE t.source_oid::oid = source::oid) >= 2 THEN
        RAISE EXCEPTION 'Two capture instances already exist for source table ''%.%''. A table can have at most two capture instances.', source_schema, source_name
            USING ERRCODE = 'MSSQL', DETAIL = '22962,16,1';
    END IF;
    SELECT c INTO missing FROM unnest(wanted) c
        WHERE NOT EXISTS (SELECT FROM mssql.columns k WHERE k.relid = source AND k.attname = c) LIMIT 1;
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION 'Could not enable Change Data Capture: the column ''%'' of the captured column list is not a column of ''%.%''.', missing, source_schema, source_name
            USING ERRCODE = 'MSSQL', DETAIL = '22947,16,1';
    END IF;
    SELECT i.indexrelid, array_agg(a.attname::text ORDER BY k.position) INTO key_index, keys
        FROM pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid
        CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, position)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
        WHERE i.indrelid = source AND CASE WHEN index_name IS NULL THEN i.indisprimary
            ELSE i.indisunique AND ic.relname = lower(index_name) END
        GROUP BY i.indexrelid;
    IF supports_net_changes = 1 AND keys IS NULL THEN
        RAISE EXCEPTION 'The parameter @supports_net_changes is set to 1, but the source table does not have a primary key defined and no alternate unique index has been specified.'
            USING ERRCODE = 'MSSQL', DETAIL = '22939,16,1';
    END IF;
    EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', source);
    EXECUTE format('CREATE TABLE mssql_cdc.%I ("__$start_lsn" mssql.binary(10) NOT NULL,
        "__$end_lsn" mssql.binary(10), "__$seqval" mssql.binary(10) NOT NULL, "__$operation" integer NOT NULL,
        "__$update_mask" mssql.varbinary(128), %s, "__$command_id" integer)', storage_name,
        (SELECT string_agg(format('%I %s', k.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY k.column_id)
        FROM mssql.columns k JOIN pg_attribute a ON a.attrelid = k.relid AND a.attnum = k.column_id
        WHERE k.relid = source AND (wanted IS NULL OR k.attname = ANY (wanted))));
    EXECUTE format('CREATE UNIQUE INDEX ON mssql_cdc.%I ("__$start_lsn", "__$seqval", "__$operation")', storage_name);
    id := to_regclass(format('mssql_cdc.%I', storage_name))::oid::integer;
    INSERT INTO mssql.cdc_columns
        SELECT db_name, id, k.name, k.attname, k.column_id, k.type_name,
            row_number() OVER (ORDER BY k.column_id), k.is_computed::mssql.bit
        FROM mssql.columns k WHERE k.relid = source AND (wanted IS NULL OR k.attname = ANY (wanted));
    number := mssql.cdc_transaction(db_name);
    INSERT INTO mssql.cdc_tables VALUES (db_name, id, source::oid::integer, instance, id::oid,
        mssql.lsn(number, 0), coalesce(supports_net_changes, (keys IS NOT NULL)::integer) = 1, role_name,
        coalesce(index_name, (SELECT mssql.declared(c.relname, obj_description(c.oid, 'pg_class'))::text FROM pg_class c WHERE c.oid = key_index)),
        coalesce(keys, '{}'), filegroup_name, mssql.getdate());
    PERFORM mssql.cdc_generate(id), mssql.cdc_instance_views(id);
    EXECUTE format('CREATE CONSTRAINT TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %s
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mssql_cdc.%I()',
        'cdc_' || lower(instance), source, db_name || '.' || lower(instance));
    EXECUTE format('CREATE OR REPLACE TRIGGER cdc_truncate BEFORE TRUNCATE ON %s
        FOR EACH STATEMENT EXECUTE FUNCTION mssql.cdc_refuse_truncate()', source);
END $$;

-- Locks a captured table with the views of its changes: all at once, or none yet. Whoever reads the
-- changes of several instances locks their views in any order, and keeps them to its transaction's end.
-- One lock after the other would end in a deadlock, where SQL Server waits for the readers.
CREATE FUNCTION mssql.cdc_lock_table(source regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    locked text := (SELECT string_agg(format(', %I.%I', t.db || '.cdc', lower(t.capture_instance::text) || '_ct'), '')
        FROM mssql.cdc_tables t WHERE t.source_oid::oid = source::oid);
    until timestamptz := clock_timestamp() + interval '4 s';
BEGIN
    IF locked IS NULL THEN RETURN; END IF;
    locked := source || locked;
    WHILE clock_timestamp() < until LOOP
        BEGIN
            EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE NOWAIT', locked);
            RETURN;
        EXCEPTION WHEN lock_not_available THEN
            PERFORM pg_sleep(0.02);
        END;
    END LOOP;
    -- Readers without a pause: wait in line.
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', locked);
END $$;

CREATE FUNCTION mssql.cdc_drop_instance(id integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    instance mssql.cdc_tables;
    low text;
BEGIN
    SELECT * INTO STRICT instance FROM mssql.cdc_tables t WHERE t.object_id = id;
    low := lower(instance.capture_instance::text);
    IF EXISTS (SELECT FROM pg_class c WHERE c.oid = instance.source_oid::oid) THEN
        PERFORM mssql.cdc_lock_table(instance.source_oid::oid);
        EXECUTE format('DROP TRIGGER %I ON %s', 'cdc_' || low, instance.source_oid::oid::regclass);
        IF (SELECT count(*) FROM mssql.cdc_tables t WHERE t.source_oid = instance.source_oid) = 1 THEN
            EXECUTE format('DROP TRIGGER cdc_truncate ON %s', instance.source_oid::oid::regclass);
        END IF;
    END IF;
    EXECUTE format('DROP FUNCTION mssql_cdc.%I()', instance.db || '.' || low);
    PERFORM mssql.cdc_drop_functions(id);
    EXECUTE format('DROP VIEW %I.%I', instance.db || '.cdc', low || '_ct');
    EXECUTE format('DROP TABLE %s', instance.storage::regclass);
    DELETE FROM mssql.cdc_columns WHERE object_id = id;
    DELETE FROM mssql.cdc_tables WHERE object_id = id;
END $$;

CREATE FUNCTION mssql.cdc_disable_table(
    current_db text, source_schema text, source_name text, capture_instance text
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    source regclass := to_regclass(format('%I.%I', mssql.schema_of(current_db, source_schema), lower(source_name)));
    found integer := 0;
    id integer;
BEGIN
    FOR id IN SELECT t.object_id FROM mssql.cdc_tables t WHERE t.source_oid::oid = source::oid
        AND (lower(capture_instance) = 'all' OR lower(t.capture_instance::text) = lower(capture_instance))
    LOOP
        PERFORM mssql.cdc_drop_instance(id);
        found := found + 1;
    END LOOP;
    IF found = 0 THEN
        RAISE EXCEPTION 'Change Data Capture has not been enabled for source table ''%.%''. Specify the name of a table enabled for Change Data Capture.', source_schema, source_name
            USING ERRCODE = 'MSSQL', DETAIL = '22911,16,1';
    END IF;
END $$;

CREATE FUNCTION mssql.cdc_disable_db(current_db text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    db_name text := lower(current_db);
BEGIN
    PERFORM mssql.cdc_drop_instance(t.object_id) FROM mssql.cdc_tables t WHERE t.db = db_name;
    EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', db_name || '.cdc');
    DELETE FROM mssql.schemas WHERE relname = db_name || '.cdc';
    EXECUTE format('DROP SEQUENCE IF EXISTS mssql_cdc.%I', db_name || '.lsn');
    EXECUTE format('DROP TABLE IF EXISTS mssql_cdc.%I', db_name || '.lsn_time_mapping');
    DELETE FROM mssql.cdc_ddl WHERE db = db_name;
    DELETE FROM mssql.cdc_databases WHERE db = db_name;
END $$;

-- Before a captured table is altered its views are dropped; afterwards everything is made anew.
CREATE FUNCTION mssql.cdc_before_alter(source regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    instance mssql.cdc_tables;
BEGIN
    PERFORM mssql.cdc_lock_table(source);
    FOR instance IN SELECT * FROM mssql.cdc_tables t WHERE t.source_oid::oid = source::oid LOOP
        EXECUTE format('DROP VIEW %I.%I CASCADE', instance.db || '.cdc', lower(instance.capture_instance::text) || '_ct');
    END LOOP;
END $$;
CREATE FUNCTION mssql.cdc_after_alter(source regclass, command text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    instance mssql.cdc_tables;
    col record;
BEGIN
    FOR instance IN SELECT * FROM mssql.cdc_tables t WHERE t.source_oid::oid = source::oid LOOP
        FOR col IN SELECT c.attname, format_type(a.atttypid, a.atttypmod) AS type
            FROM mssql.cdc_columns c JOIN pg_attribute a ON a.attrelid = source::oid AND a.attname = c.attname
            JOIN pg_attribute k ON k.attrelid = instance.storage AND k.attname = c.attname
            WHERE c.object_id = instance.object_id AND NOT a.attisdropped
                AND (a.atttypid, a.atttypmod) <> (k.atttypid, k.atttypmod)
        LOOP
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I TYPE %s', instance.storage::regclass, col.attname, col.type);
        END LOOP;
        INSERT INTO mssql.cdc_ddl VALUES (instance.db, source::oid::integer, instance.object_id, 0::mssql.bit, command,
            mssql.lsn(mssql.cdc_transaction(instance.db), x'FFFFFFFE'::bigint), mssql.getdate());
        PERFORM mssql.cdc_generate(instance.object_id), mssql.cdc_instance_views(instance.object_id);
    END LOOP;
END $$;
CREATE FUNCTION mssql.cdc_before_drop(source regclass) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT mssql.cdc_drop_instance(t.object_id) FROM mssql.cdc_tables t WHERE t.source_oid::oid = source::oid
$$;

-- Cleanup: rows below the low-water mark go, and the instance's validity starts there.
CREATE FUNCTION mssql.cdc_clean_instance(id integer, low_water_mark bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    instance mssql.cdc_tables;
BEGIN
    SELECT * INTO STRICT instance FROM mssql.cdc_tables t WHERE t.object_id = id FOR UPDATE;
    IF low_water_mark IS NULL OR low_water_mark <= instance.start_lsn::bytea THEN RETURN; END IF;
    EXECUTE format('DELETE FROM %s WHERE "__$start_lsn" < $1', instance.storage::regclass) USING low_water_mark;
    UPDATE mssql.cdc_tables SET start_lsn = low_water_mark WHERE object_id = id;
END $$;
CREATE FUNCTION mssql.cdc_cleanup(db_name text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    low_water_mark bytea;
    keeps interval;
    gone integer;
BEGIN
    SELECT make_interval(mins => c.retention_minutes::integer) INTO keeps FROM mssql.cdc_databases c WHERE c.db = db_name;
    EXECUTE format('SELECT start_lsn FROM mssql_cdc.%I WHERE committed_at >= clock_timestamp() - $1
        OR start_lsn = (SELECT max(start_lsn::bytea) FROM mssql_cdc.%1$I) ORDER BY start_lsn LIMIT 1',
        db_name || '.lsn_time_mapping') INTO low_water_mark USING keeps;
    -- From where that transaction begins, not from its commit: Debezium takes a position for lost that is
    -- not behind the start of every instance, and the last commit is where an idle connector stands.
    low_water_mark := substr(low_water_mark, 1, 6) || '\x00000000'::bytea;
    PERFORM mssql.cdc_clean_instance(t.object_id, low_water_mark) FROM mssql.cdc_tables t WHERE t.db = db_name;
    EXECUTE format('DELETE FROM mssql_cdc.%I WHERE start_lsn < $1', db_name || '.lsn_time_mapping') USING low_water_mark;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END $$;
