-- Reading changes: the functions of sys and cdc, and what the capture job lets be seen.

-- The capture job reads the log every polling interval: a change can be seen from the first scan
-- after its commit. 0 means that every commit can be seen at once.
CREATE FUNCTION mssql.cdc_horizon(db_name text) RETURNS timestamptz LANGUAGE sql STABLE
    RETURN (SELECT CASE WHEN c.stopped_at IS NOT NULL THEN c.stopped_at
        WHEN c.polling_seconds = 0 THEN 'infinity'::timestamptz
        ELSE to_timestamp(floor(extract(epoch FROM clock_timestamp()) / c.polling_seconds) * c.polling_seconds) END
        FROM mssql.cdc_databases c WHERE c.db = db_name);
CREATE FUNCTION mssql.cdc_visible(db_name text) RETURNS mssql.binary LANGUAGE plpgsql STABLE AS $$
DECLARE
    horizon timestamptz := mssql.cdc_horizon(db_name);
    found mssql.binary(10);
BEGIN
    IF horizon IS NULL THEN RETURN NULL; END IF;
    -- What is from the future was committed before the clock was put back.
    EXECUTE format('SELECT start_lsn FROM mssql_cdc.%I WHERE committed_at <= $1 OR committed_at > clock_timestamp()
        ORDER BY start_lsn DESC LIMIT 1', db_name || '.lsn_time_mapping') INTO found USING horizon;
    RETURN found;
END $$;

CREATE FUNCTION mssql.fn_cdc_get_max_lsn(db_name text) RETURNS mssql.binary LANGUAGE sql STABLE
    RETURN mssql.cdc_visible(lower(db_name));
CREATE FUNCTION mssql.fn_cdc_get_min_lsn(db_name text, instance text) RETURNS mssql.binary
    LANGUAGE sql STABLE RETURN coalesce((SELECT t.start_lsn::mssql.binary FROM mssql.cdc_tables t
        WHERE t.db = lower(db_name) AND lower(t.capture_instance::text) = lower(instance)),
        '\x00000000000000000000'::bytea::mssql.binary);
CREATE FUNCTION mssql.lsn_step(bytea, integer) RETURNS mssql.binary LANGUAGE plpgsql IMMUTABLE STRICT
    PARALLEL SAFE AS $$
DECLARE
    value bytea := substr($1 || '\x00000000000000000000'::bytea, 1, 10);
    digit integer;
BEGIN
    FOR at IN REVERSE 9 .. 0 LOOP
        digit := get_byte(value, at) + $2;
        value := set_byte(value, at, (digit + 256) % 256);
        EXIT WHEN digit BETWEEN 0 AND 255;
    END LOOP;
    RETURN value::mssql.binary;
END $$;
CREATE FUNCTION mssql.fn_cdc_increment_lsn(db_name text, lsn bytea) RETURNS mssql.binary LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.lsn_step(lsn, 1);
CREATE FUNCTION mssql.fn_cdc_decrement_lsn(db_name text, lsn bytea) RETURNS mssql.binary LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.lsn_step(lsn, -1);
CREATE FUNCTION mssql.fn_cdc_map_lsn_to_time(db_name text, lsn bytea) RETURNS mssql.datetime
    LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
    found mssql.datetime;
BEGIN
    EXECUTE format('SELECT tran_end_time FROM mssql_cdc.%I WHERE start_lsn = $1', lower(db_name) || '.lsn_time_mapping')
        INTO found USING lsn;
    RETURN found;
END $$;
CREATE FUNCTION mssql.fn_cdc_map_time_to_lsn(db_name text, relation text, at timestamp) RETURNS mssql.binary
    LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
    found mssql.binary(10);
    test text := CASE lower(relation)
        WHEN 'largest less than' THEN '< $1 ORDER BY start_lsn DESC'
        WHEN 'largest less than or equal' THEN '<= $1 ORDER BY start_lsn DESC'
        WHEN 'smallest greater than' THEN '> $1 ORDER BY start_lsn'
        WHEN 'smallest greater than or equal' THEN '>= $1 ORDER BY start_lsn' END;
BEGIN
    IF test IS NULL THEN
        RAISE EXCEPTION 'The value specified for the parameter @relational_operator is not valid.'
            USING ERRCODE = 'MSSQL', DETAIL = '22963,16,1';
    END IF;
    EXECUTE format('SELECT start_lsn FROM %I.lsn_time_mapping WHERE tran_end_time::timestamp %s LIMIT 1',
        lower(db_name) || '.cdc', test) INTO found USING at;
    RETURN found;
END $$;
CREATE FUNCTION mssql.fn_cdc_get_column_ordinal(db_name text, instance text, column_name text)
    RETURNS integer LANGUAGE sql STABLE RETURN (SELECT c.column_ordinal FROM mssql.cdc_columns c
        JOIN mssql.cdc_tables t ON t.object_id = c.object_id
        WHERE t.db = lower(db_name) AND lower(t.capture_instance::text) = lower(instance)
            AND c.attname = lower($3));
CREATE FUNCTION mssql.fn_cdc_is_bit_set(db_name text, bit_position integer, mask bytea) RETURNS mssql.bit
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE
        WHEN mask IS NULL OR bit_position < 1 OR bit_position > 8 * length(mask) THEN 0::mssql.bit
        ELSE ((get_byte(mask, length(mask) - 1 - (bit_position - 1) / 8) >> ((bit_position - 1) % 8)) & 1)::mssql.bit END;
CREATE FUNCTION mssql.fn_cdc_has_column_changed(db_name text, instance text, column_name text, mask bytea)
    RETURNS mssql.bit LANGUAGE sql STABLE
    RETURN mssql.fn_cdc_is_bit_set(db_name, mssql.fn_cdc_get_column_ordinal(db_name, instance, column_name), mask);

-- A range must lie within what the instance holds, as documented: error 313 otherwise.
CREATE FUNCTION mssql.cdc_check_range(id integer, from_lsn bytea, to_lsn bytea, function_name text,
    choice text, choices text[]) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
    instance mssql.cdc_tables;
BEGIN
    SELECT * INTO STRICT instance FROM mssql.cdc_tables t WHERE t.object_id = id;
    IF from_lsn IS NULL OR to_lsn IS NULL OR from_lsn < instance.start_lsn::bytea OR from_lsn > to_lsn
        OR to_lsn > mssql.cdc_visible(instance.db)::bytea OR choice IS NULL
        OR NOT lower(choice) = ANY (choices)
    THEN
        RAISE EXCEPTION 'An insufficient number of arguments were supplied for the procedure or function cdc.% ... .', function_name
            USING ERRCODE = 'MSSQL', DETAIL = '313,16,3';
    END IF;
    RETURN true;
END $$;

CREATE FUNCTION mssql.cdc_drop_functions(id integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    instance mssql.cdc_tables;
    kind text;
BEGIN
    SELECT * INTO STRICT instance FROM mssql.cdc_tables t WHERE t.object_id = id;
    FOREACH kind IN ARRAY ARRAY['all', 'net'] LOOP
        EXECUTE format('DROP FUNCTION IF EXISTS %I.%I(bytea, bytea, text)', instance.db || '.cdc',
            format('fn_cdc_get_%s_changes_%s', kind, lower(instance.capture_instance::text)));
        EXECUTE format('DROP TYPE IF EXISTS mssql_cdc.%I', format('%s.%s_%s', instance.db,
            lower(instance.capture_instance::text), CASE kind WHEN 'all' THEN 'row' ELSE 'net' END));
    END LOOP;
END $$;

-- The view and the functions of one capture instance.
CREATE FUNCTION mssql.cdc_instance_views(id integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    instance mssql.cdc_tables;
    target text;
    low text;
    columns text;
    typed text;
    keys text;
    col record;
    row_type text;
    define text := 'CREATE FUNCTION %I.%I(from_lsn bytea, to_lsn bytea, row_filter_option text)
        RETURNS SETOF %s LANGUAGE sql STABLE AS %L';
BEGIN
    SELECT * INTO STRICT instance FROM mssql.cdc_tables t WHERE t.object_id = id;
    target := instance.db || '.cdc';
    low := lower(instance.capture_instance::text);
    SELECT string_agg(quote_ident(c.attname), ', ' ORDER BY c.column_ordinal),
        string_agg(format('%I %s', c.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY c.column_ordinal)
        INTO columns, typed FROM mssql.cdc_columns c
        JOIN pg_attribute a ON a.attrelid = instance.storage AND a.attname = c.attname
        WHERE c.object_id = id;
    EXECUTE format('CREATE VIEW %I.%I AS SELECT * FROM %s WHERE "__$start_lsn" <= mssql.cdc_visible(%L)',
        target, low || '_ct', instance.storage::regclass, instance.db);
    EXECUTE format('COMMENT ON VIEW %I.%I IS %L', target, low || '_ct', instance.capture_instance::text || '_CT');
    FOR col IN SELECT c.attname, c.column_name::text FROM mssql.cdc_columns c
        WHERE c.object_id = id AND c.attname::text <> c.column_name::text
    LOOP
        EXECUTE format('COMMENT ON COLUMN %I.%I.%I IS %L', target, low || '_ct', col.attname, col.column_name);
    END LOOP;
    -- A row type of its own keeps the columns' sizes, which RETURNS TABLE would not.
    PERFORM mssql.cdc_drop_functions(id);
    row_type := format('mssql_cdc.%I', instance.db || '.' || low || '_row');
    EXECUTE format('CREATE TYPE %s AS ("__$start_lsn" mssql.binary(10), "__$seqval" mssql.binary(10),
        "__$operation" integer, "__$update_mask" mssql.varbinary(128), %s)', row_type, typed);
    EXECUTE format(define, target, 'fn_cdc_get_all_changes_' || low, row_type, format($make$
        SELECT c."__$start_lsn", c."__$seqval", c."__$operation", c."__$update_mask", %2$s FROM %3$s c
        WHERE mssql.cdc_check_range(%4$s, from_lsn, to_lsn, %1$L, row_filter_option, '{all,all update old}')
            AND c."__$start_lsn" >= from_lsn AND c."__$start_lsn" <= to_lsn
            AND (c."__$operation" <> 3 OR lower(row_filter_option) = 'all update old') $make$,
        'fn_cdc_get_all_changes_' || low, columns, instance.storage::regclass, id));
    IF NOT instance.supports_net_changes THEN RETURN; END IF;
    keys := (SELECT string_agg('c.' || quote_ident(k), ', ') FROM unnest(instance.key_columns) k);
    row_type := format('mssql_cdc.%I', instance.db || '.' || low || '_net');
    EXECUTE format('CREATE TYPE %s AS ("__$start_lsn" mssql.binary(10), "__$operation" integer,
        "__$update_mask" mssql.varbinary(128), %s)', row_type, typed);
    EXECUTE format(define, target, 'fn_cdc_get_net_changes_' || low, row_type, format($make$
        SELECT "__$start_lsn", CASE WHEN last = 1 THEN 1
            WHEN lower(row_filter_option) = 'all with merge' THEN 5
            WHEN first = 2 THEN 2 ELSE 4 END,
            CASE WHEN lower(row_filter_option) = 'all with mask' AND first <> 2 AND last <> 1 THEN mssql.cdc_mask_union(masks) END,
            %2$s FROM (
            SELECT c.*, c."__$operation" AS last,
                first_value(c."__$operation") OVER touched AS first,
                array_agg(c."__$update_mask"::bytea) OVER touched AS masks,
                row_number() OVER (PARTITION BY %5$s ORDER BY c."__$start_lsn" DESC, c."__$seqval" DESC, c."__$operation" DESC) AS backwards
            FROM %3$s c
            WHERE mssql.cdc_check_range(%4$s, from_lsn, to_lsn, %1$L, row_filter_option, '{all,all with mask,all with merge}')
                AND c."__$start_lsn" >= from_lsn AND c."__$start_lsn" <= to_lsn AND c."__$operation" <> 3
            WINDOW touched AS (PARTITION BY %5$s ORDER BY c."__$start_lsn", c."__$seqval", c."__$operation"
                ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) net
        WHERE backwards = 1 AND NOT (first = 2 AND last = 1) $make$,
        'fn_cdc_get_net_changes_' || low, columns, instance.storage::regclass, id, keys));
END $$;
CREATE FUNCTION mssql.cdc_mask_union(bytea[]) RETURNS mssql.varbinary LANGUAGE plpgsql IMMUTABLE STRICT
    PARALLEL SAFE AS $$
DECLARE
    result bytea := $1[1];
    other bytea;
BEGIN
    FOREACH other IN ARRAY $1 LOOP
        FOR at IN 0 .. least(length(result), length(other)) - 1 LOOP
            result := set_byte(result, at, get_byte(result, at) | get_byte(other, at));
        END LOOP;
    END LOOP;
    RETURN result::mssql.varbinary;
END $$;
