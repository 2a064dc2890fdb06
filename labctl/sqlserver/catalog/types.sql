-- SQL Server's types that PostgreSQL lacks, as base types over PostgreSQL's own input, output and
-- storage. A column or expression keeps its SQL Server type through every query, and results
-- carry it in their row description. Creating base types needs a superuser.

CREATE SCHEMA IF NOT EXISTS mssql;

CREATE FUNCTION mssql.install_type(
    type_name text, base text, prefix text, category text, with_typmod boolean, binary_name text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    in_args text := CASE WHEN with_typmod THEN 'cstring, oid, integer' ELSE 'cstring' END;
    recv_args text := CASE WHEN with_typmod THEN 'internal, oid, integer' ELSE 'internal' END;
    typmod text := CASE
        WHEN NOT with_typmod THEN ''
        WHEN base IN ('bpchar', 'bytea', 'varchar')
            THEN format(', typmod_in = mssql.%1$s_typmod_in, typmod_out = mssql.%1$s_typmod_out', type_name)
        ELSE '' END;
BEGIN
    EXECUTE format('CREATE TYPE mssql.%I', type_name);
    EXECUTE format('CREATE FUNCTION mssql.%1$s_in(%2$s) RETURNS mssql.%1$I LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS %3$L', type_name, in_args, prefix || 'in');
    EXECUTE format('CREATE FUNCTION mssql.%1$s_out(mssql.%1$I) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS %2$L', type_name, prefix || 'out');
    EXECUTE format('CREATE FUNCTION mssql.%1$s_recv(%2$s) RETURNS mssql.%1$I LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS %3$L', type_name, recv_args, prefix || 'recv');
    EXECUTE format('CREATE FUNCTION mssql.%1$s_send(mssql.%1$I) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS %2$L', type_name, prefix || 'send');
    IF typmod <> '' THEN
        EXECUTE format('CREATE FUNCTION mssql.%1$s_typmod_in(cstring[]) RETURNS integer LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS %2$L', type_name, CASE base WHEN 'bpchar' THEN 'bpchartypmodin' ELSE 'varchartypmodin' END);
        EXECUTE format('CREATE FUNCTION mssql.%1$s_typmod_out(integer) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS %2$L', type_name, CASE base WHEN 'bpchar' THEN 'bpchartypmodout' ELSE 'varchartypmodout' END);
    END IF;
    EXECUTE format('CREATE TYPE mssql.%1$I (input = mssql.%1$s_in, output = mssql.%1$s_out, receive = mssql.%1$s_recv, send = mssql.%1$s_send%2$s, like = %3$I, category = %4$L, collatable = %5$L)',
        type_name, typmod, base, category, (category = 'S')::text);
    IF binary_name <> '' THEN
        EXECUTE format('CREATE CAST (mssql.%I AS %I) WITHOUT FUNCTION AS IMPLICIT', type_name, binary_name);
    END IF;
END $$;

SELECT mssql.install_type('bit', 'bool', 'bool', 'N', false, '');
SELECT mssql.install_type('tinyint', 'int2', 'int2', 'N', false, 'int2');
SELECT mssql.install_type('money', 'numeric', 'numeric_', 'N', true, 'numeric');
SELECT mssql.install_type('smallmoney', 'numeric', 'numeric_', 'N', true, 'numeric');
SELECT mssql.install_type('datetime', 'timestamp', 'timestamp_', 'D', true, 'timestamp');
SELECT mssql.install_type('smalldatetime', 'timestamp', 'timestamp_', 'D', true, 'timestamp');
SELECT mssql.install_type('datetimeoffset', 'text', 'text', 'D', false, '');
SELECT mssql.install_type('nvarchar', 'varchar', 'varchar', 'S', true, 'text');
SELECT mssql.install_type('nchar', 'bpchar', 'bpchar', 'S', true, 'bpchar');
SELECT mssql.install_type('varbinary', 'bytea', 'bytea', 'U', true, 'bytea');
SELECT mssql.install_type('binary', 'bytea', 'bytea', 'U', true, 'bytea');

DROP FUNCTION mssql.install_type(text, text, text, text, boolean, text);

-- Text: sizes are enforced by the same coercions as PostgreSQL's own varchar and char.
CREATE FUNCTION mssql.nvarchar_size(mssql.nvarchar, integer, boolean) RETURNS mssql.nvarchar
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'varchar';
CREATE CAST (mssql.nvarchar AS mssql.nvarchar)
    WITH FUNCTION mssql.nvarchar_size(mssql.nvarchar, integer, boolean) AS IMPLICIT;
CREATE FUNCTION mssql.nchar_size(mssql.nchar, integer, boolean) RETURNS mssql.nchar
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'bpchar';
CREATE CAST (mssql.nchar AS mssql.nchar)
    WITH FUNCTION mssql.nchar_size(mssql.nchar, integer, boolean) AS IMPLICIT;
CREATE CAST (mssql.nvarchar AS varchar) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (varchar AS mssql.nvarchar) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (text AS mssql.nvarchar) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (mssql.nvarchar AS mssql.nchar) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (mssql.nvarchar AS bpchar) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (text AS mssql.nchar) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (varchar AS mssql.nchar) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (bpchar AS mssql.nchar) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (mssql.nchar AS mssql.nvarchar) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE FUNCTION mssql.nchar_text(mssql.nchar) RETURNS text
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'rtrim1';
CREATE CAST (mssql.nchar AS text) WITH FUNCTION mssql.nchar_text(mssql.nchar) AS IMPLICIT;
CREATE CAST (bpchar AS mssql.nvarchar) WITHOUT FUNCTION AS ASSIGNMENT;

-- bit: any number but zero is 1.
CREATE FUNCTION mssql.bit_int4(mssql.bit) RETURNS integer
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'bool_int4';
CREATE FUNCTION mssql.int4_bit(integer) RETURNS mssql.bit
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'int4_bool';
CREATE CAST (mssql.bit AS integer) WITH FUNCTION mssql.bit_int4(mssql.bit) AS IMPLICIT;
CREATE CAST (integer AS mssql.bit) WITH FUNCTION mssql.int4_bit(integer) AS ASSIGNMENT;
CREATE CAST (mssql.bit AS boolean) WITHOUT FUNCTION;
CREATE CAST (boolean AS mssql.bit) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE FUNCTION mssql.smallint_bit(smallint) RETURNS mssql.bit LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN ($1 <> 0)::mssql.bit;
CREATE FUNCTION mssql.bigint_bit(bigint) RETURNS mssql.bit LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN ($1 <> 0)::mssql.bit;
CREATE FUNCTION mssql.numeric_bit(numeric) RETURNS mssql.bit LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN ($1 <> 0)::mssql.bit;
CREATE FUNCTION mssql.float8_bit(double precision) RETURNS mssql.bit LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN ($1 <> 0)::mssql.bit;
CREATE CAST (smallint AS mssql.bit) WITH FUNCTION mssql.smallint_bit(smallint) AS ASSIGNMENT;
CREATE CAST (bigint AS mssql.bit) WITH FUNCTION mssql.bigint_bit(bigint) AS ASSIGNMENT;
CREATE CAST (numeric AS mssql.bit) WITH FUNCTION mssql.numeric_bit(numeric) AS ASSIGNMENT;
CREATE CAST (double precision AS mssql.bit) WITH FUNCTION mssql.float8_bit(double precision) AS ASSIGNMENT;
CREATE FUNCTION mssql.bit_bigint(mssql.bit) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.bit_int4($1)::bigint;
CREATE FUNCTION mssql.bit_smallint(mssql.bit) RETURNS smallint LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.bit_int4($1)::smallint;
CREATE FUNCTION mssql.bit_numeric(mssql.bit) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.bit_int4($1)::numeric;
CREATE FUNCTION mssql.bit_float8(mssql.bit) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.bit_int4($1)::double precision;
CREATE FUNCTION mssql.bit_text(mssql.bit) RETURNS text LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.bit_int4($1)::text;
CREATE CAST (mssql.bit AS bigint) WITH FUNCTION mssql.bit_bigint(mssql.bit) AS ASSIGNMENT;
CREATE CAST (mssql.bit AS smallint) WITH FUNCTION mssql.bit_smallint(mssql.bit) AS ASSIGNMENT;
CREATE CAST (mssql.bit AS numeric) WITH FUNCTION mssql.bit_numeric(mssql.bit) AS ASSIGNMENT;
CREATE CAST (mssql.bit AS double precision) WITH FUNCTION mssql.bit_float8(mssql.bit) AS ASSIGNMENT;
CREATE CAST (mssql.bit AS text) WITH FUNCTION mssql.bit_text(mssql.bit) AS ASSIGNMENT;
CREATE FUNCTION mssql.bit_eq(mssql.bit, mssql.bit) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'booleq';
CREATE FUNCTION mssql.bit_ne(mssql.bit, mssql.bit) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'boolne';
CREATE FUNCTION mssql.bit_lt(mssql.bit, mssql.bit) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'boollt';
CREATE FUNCTION mssql.bit_le(mssql.bit, mssql.bit) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'boolle';
CREATE FUNCTION mssql.bit_gt(mssql.bit, mssql.bit) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'boolgt';
CREATE FUNCTION mssql.bit_ge(mssql.bit, mssql.bit) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'boolge';
CREATE FUNCTION mssql.bit_cmp(mssql.bit, mssql.bit) RETURNS integer
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'btboolcmp';
CREATE FUNCTION mssql.bit_hash(mssql.bit) RETURNS integer
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'hashchar';
CREATE OPERATOR mssql.= (LEFTARG = mssql.bit, RIGHTARG = mssql.bit, FUNCTION = mssql.bit_eq,
    COMMUTATOR = OPERATOR(mssql.=), NEGATOR = OPERATOR(mssql.<>), HASHES, MERGES);
CREATE OPERATOR mssql.<> (LEFTARG = mssql.bit, RIGHTARG = mssql.bit, FUNCTION = mssql.bit_ne,
    COMMUTATOR = OPERATOR(mssql.<>), NEGATOR = OPERATOR(mssql.=));
CREATE OPERATOR mssql.< (LEFTARG = mssql.bit, RIGHTARG = mssql.bit, FUNCTION = mssql.bit_lt);
CREATE OPERATOR mssql.<= (LEFTARG = mssql.bit, RIGHTARG = mssql.bit, FUNCTION = mssql.bit_le);
CREATE OPERATOR mssql.> (LEFTARG = mssql.bit, RIGHTARG = mssql.bit, FUNCTION = mssql.bit_gt);
CREATE OPERATOR mssql.>= (LEFTARG = mssql.bit, RIGHTARG = mssql.bit, FUNCTION = mssql.bit_ge);
CREATE OPERATOR CLASS mssql.bit_ops DEFAULT FOR TYPE mssql.bit USING btree AS
    OPERATOR 1 mssql.<, OPERATOR 2 mssql.<=, OPERATOR 3 mssql.=, OPERATOR 4 mssql.>=,
    OPERATOR 5 mssql.>, FUNCTION 1 mssql.bit_cmp(mssql.bit, mssql.bit);
CREATE OPERATOR CLASS mssql.bit_hash_ops DEFAULT FOR TYPE mssql.bit USING hash AS
    OPERATOR 1 mssql.=, FUNCTION 1 mssql.bit_hash(mssql.bit);

-- tinyint: 0 to 255.
CREATE FUNCTION mssql.to_tinyint(integer) RETURNS mssql.tinyint LANGUAGE plpgsql IMMUTABLE STRICT
    PARALLEL SAFE AS $$
BEGIN
    IF $1 NOT BETWEEN 0 AND 255 THEN
        RAISE EXCEPTION 'Arithmetic overflow error for data type tinyint, value = %.', $1
            USING ERRCODE = 'MSSQL', DETAIL = '220,16,2';
    END IF;
    RETURN $1::smallint::text::mssql.tinyint;
END $$;
CREATE FUNCTION mssql.tinyint_int4(mssql.tinyint) RETURNS integer
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'i2toi4';
CREATE FUNCTION mssql.bigint_tinyint(bigint) RETURNS mssql.tinyint LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.to_tinyint($1::integer);
CREATE FUNCTION mssql.smallint_tinyint(smallint) RETURNS mssql.tinyint LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE RETURN mssql.to_tinyint($1::integer);
CREATE FUNCTION mssql.numeric_tinyint(numeric) RETURNS mssql.tinyint LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.to_tinyint(trunc($1)::integer);
CREATE CAST (integer AS mssql.tinyint) WITH FUNCTION mssql.to_tinyint(integer) AS ASSIGNMENT;
CREATE CAST (bigint AS mssql.tinyint) WITH FUNCTION mssql.bigint_tinyint(bigint) AS ASSIGNMENT;
CREATE CAST (smallint AS mssql.tinyint) WITH FUNCTION mssql.smallint_tinyint(smallint) AS ASSIGNMENT;
CREATE CAST (numeric AS mssql.tinyint) WITH FUNCTION mssql.numeric_tinyint(numeric) AS ASSIGNMENT;
CREATE CAST (mssql.tinyint AS integer) WITH FUNCTION mssql.tinyint_int4(mssql.tinyint) AS ASSIGNMENT;

-- money: four decimal places.
CREATE FUNCTION mssql.as_money(numeric) RETURNS mssql.money LANGUAGE internal IMMUTABLE STRICT
    PARALLEL SAFE AS 'numeric_uplus';
CREATE FUNCTION mssql.numeric_money(numeric) RETURNS mssql.money LANGUAGE plpgsql IMMUTABLE STRICT
    PARALLEL SAFE AS $$
BEGIN
    IF round($1, 4) NOT BETWEEN -922337203685477.5808 AND 922337203685477.5807 THEN
        RAISE EXCEPTION 'Arithmetic overflow error converting numeric to data type money.'
            USING ERRCODE = 'MSSQL', DETAIL = '8115,16,4';
    END IF;
    RETURN mssql.as_money(round($1, 4));
END $$;
CREATE FUNCTION mssql.integer_money(integer) RETURNS mssql.money LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.numeric_money($1::numeric);
CREATE FUNCTION mssql.float8_money(double precision) RETURNS mssql.money LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE RETURN mssql.numeric_money($1::numeric);
CREATE CAST (numeric AS mssql.money) WITH FUNCTION mssql.numeric_money(numeric) AS ASSIGNMENT;
CREATE CAST (integer AS mssql.money) WITH FUNCTION mssql.integer_money(integer) AS ASSIGNMENT;
CREATE CAST (double precision AS mssql.money) WITH FUNCTION mssql.float8_money(double precision) AS ASSIGNMENT;
CREATE FUNCTION mssql.as_smallmoney(numeric) RETURNS mssql.smallmoney LANGUAGE internal IMMUTABLE
    STRICT PARALLEL SAFE AS 'numeric_uplus';
CREATE FUNCTION mssql.numeric_smallmoney(numeric) RETURNS mssql.smallmoney LANGUAGE plpgsql
    IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF round($1, 4) NOT BETWEEN -214748.3648 AND 214748.3647 THEN
        RAISE EXCEPTION 'Arithmetic overflow error converting numeric to data type smallmoney.'
            USING ERRCODE = 'MSSQL', DETAIL = '8115,16,4';
    END IF;
    RETURN mssql.as_smallmoney(round($1, 4));
END $$;
CREATE FUNCTION mssql.integer_smallmoney(integer) RETURNS mssql.smallmoney LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE RETURN mssql.numeric_smallmoney($1::numeric);
CREATE CAST (numeric AS mssql.smallmoney) WITH FUNCTION mssql.numeric_smallmoney(numeric) AS ASSIGNMENT;
CREATE CAST (integer AS mssql.smallmoney) WITH FUNCTION mssql.integer_smallmoney(integer) AS ASSIGNMENT;

-- datetime ticks 300 times a second; smalldatetime once a minute.
CREATE FUNCTION mssql.timestamp_datetime(timestamp) RETURNS mssql.datetime LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE AS $$
    SELECT (date_trunc('second', $1)
        + make_interval(secs => round(round(extract(microseconds from $1) % 1000000 * 300 / 1000000)
            * 1000 / 300) / 1000.0))::text::mssql.datetime
$$;
CREATE FUNCTION mssql.date_datetime(date) RETURNS mssql.datetime LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.timestamp_datetime($1::timestamp);
CREATE FUNCTION mssql.timestamp_smalldatetime(timestamp) RETURNS mssql.smalldatetime LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE
    RETURN date_trunc('minute', $1 + interval '30 seconds' - interval '1 millisecond')::text::mssql.smalldatetime;
CREATE FUNCTION mssql.datetime_date(mssql.datetime) RETURNS date LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN ($1::timestamp)::date;
CREATE FUNCTION mssql.datetime_time(mssql.datetime) RETURNS time LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN ($1::timestamp)::time;
CREATE CAST (timestamp AS mssql.datetime) WITH FUNCTION mssql.timestamp_datetime(timestamp) AS ASSIGNMENT;
CREATE CAST (date AS mssql.datetime) WITH FUNCTION mssql.date_datetime(date) AS ASSIGNMENT;
CREATE CAST (timestamp AS mssql.smalldatetime) WITH FUNCTION mssql.timestamp_smalldatetime(timestamp) AS ASSIGNMENT;
CREATE CAST (mssql.datetime AS date) WITH FUNCTION mssql.datetime_date(mssql.datetime) AS ASSIGNMENT;
CREATE CAST (mssql.datetime AS time) WITH FUNCTION mssql.datetime_time(mssql.datetime) AS ASSIGNMENT;

-- datetimeoffset keeps the offset it was given, and compares by instant.
CREATE FUNCTION mssql.offset_instant(mssql.datetimeoffset) RETURNS timestamptz LANGUAGE plpgsql
    IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN (mssql.datetimeoffset_out($1)::text || CASE
        WHEN mssql.datetimeoffset_out($1)::text ~ '([+-]\d{1,2}(:?\d{2})?|[zZ])\s*$'
            AND mssql.datetimeoffset_out($1)::text ~ ':' THEN '' ELSE '+00' END)::timestamptz;
END $$;
CREATE CAST (mssql.datetimeoffset AS text) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (mssql.datetimeoffset AS timestamptz)
    WITH FUNCTION mssql.offset_instant(mssql.datetimeoffset) AS ASSIGNMENT;
CREATE FUNCTION mssql.instant_offset(timestamptz, integer) RETURNS mssql.datetimeoffset
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (to_char(($1 AT TIME ZONE 'UTC') + make_interval(mins => $2), 'YYYY-MM-DD HH24:MI:SS.US')
        || '0 ' || CASE WHEN $2 < 0 THEN '-' ELSE '+' END || lpad((abs($2) / 60)::text, 2, '0')
        || ':' || lpad((abs($2) % 60)::text, 2, '0'))::mssql.datetimeoffset
$$;
CREATE CAST (text AS mssql.datetimeoffset) WITHOUT FUNCTION;
CREATE FUNCTION mssql.timestamp_offset(timestamp) RETURNS mssql.datetimeoffset LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.instant_offset($1 AT TIME ZONE 'UTC', 0);
CREATE CAST (timestamp AS mssql.datetimeoffset) WITH FUNCTION mssql.timestamp_offset(timestamp) AS ASSIGNMENT;
CREATE FUNCTION mssql.offset_cmp(mssql.datetimeoffset, mssql.datetimeoffset) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN
    timestamptz_cmp(mssql.offset_instant($1), mssql.offset_instant($2));
CREATE FUNCTION mssql.offset_eq(mssql.datetimeoffset, mssql.datetimeoffset) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.offset_cmp($1, $2) = 0;
CREATE FUNCTION mssql.offset_ne(mssql.datetimeoffset, mssql.datetimeoffset) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.offset_cmp($1, $2) <> 0;
CREATE FUNCTION mssql.offset_lt(mssql.datetimeoffset, mssql.datetimeoffset) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.offset_cmp($1, $2) < 0;
CREATE FUNCTION mssql.offset_le(mssql.datetimeoffset, mssql.datetimeoffset) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.offset_cmp($1, $2) <= 0;
CREATE FUNCTION mssql.offset_gt(mssql.datetimeoffset, mssql.datetimeoffset) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.offset_cmp($1, $2) > 0;
CREATE FUNCTION mssql.offset_ge(mssql.datetimeoffset, mssql.datetimeoffset) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.offset_cmp($1, $2) >= 0;
CREATE OPERATOR mssql.= (LEFTARG = mssql.datetimeoffset, RIGHTARG = mssql.datetimeoffset, FUNCTION = mssql.offset_eq);
CREATE OPERATOR mssql.<> (LEFTARG = mssql.datetimeoffset, RIGHTARG = mssql.datetimeoffset, FUNCTION = mssql.offset_ne);
CREATE OPERATOR mssql.< (LEFTARG = mssql.datetimeoffset, RIGHTARG = mssql.datetimeoffset, FUNCTION = mssql.offset_lt);
CREATE OPERATOR mssql.<= (LEFTARG = mssql.datetimeoffset, RIGHTARG = mssql.datetimeoffset, FUNCTION = mssql.offset_le);
CREATE OPERATOR mssql.> (LEFTARG = mssql.datetimeoffset, RIGHTARG = mssql.datetimeoffset, FUNCTION = mssql.offset_gt);
CREATE OPERATOR mssql.>= (LEFTARG = mssql.datetimeoffset, RIGHTARG = mssql.datetimeoffset, FUNCTION = mssql.offset_ge);
CREATE OPERATOR CLASS mssql.offset_ops DEFAULT FOR TYPE mssql.datetimeoffset USING btree AS
    OPERATOR 1 mssql.<, OPERATOR 2 mssql.<=, OPERATOR 3 mssql.=, OPERATOR 4 mssql.>=,
    OPERATOR 5 mssql.>, FUNCTION 1 mssql.offset_cmp(mssql.datetimeoffset, mssql.datetimeoffset);

-- binary: binary(n) is padded, varbinary(n) is not; neither is cut off unless cast explicitly.
CREATE FUNCTION mssql.sized_bytes(value bytea, size integer, explicit boolean, padded boolean)
    RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF size < 0 THEN RETURN value; END IF;
    IF length(value) > size - 4 THEN
        IF NOT explicit THEN
            RAISE EXCEPTION 'String or binary data would be truncated.'
                USING ERRCODE = 'MSSQL', DETAIL = '8152,16,14';
        END IF;
        RETURN substr(value, 1, size - 4);
    END IF;
    IF padded AND length(value) < size - 4 THEN
        RETURN value || decode(repeat('00', size - 4 - length(value)), 'hex');
    END IF;
    RETURN value;
END $$;
CREATE CAST (bytea AS mssql.varbinary) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (bytea AS mssql.binary) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE FUNCTION mssql.varbinary_size(mssql.varbinary, integer, boolean) RETURNS mssql.varbinary
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.sized_bytes($1, $2, $3, false)::mssql.varbinary;
CREATE CAST (mssql.varbinary AS mssql.varbinary)
    WITH FUNCTION mssql.varbinary_size(mssql.varbinary, integer, boolean) AS IMPLICIT;
CREATE FUNCTION mssql.binary_size(mssql.binary, integer, boolean) RETURNS mssql.binary
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.sized_bytes($1, $2, $3, true)::mssql.binary;
CREATE CAST (mssql.binary AS mssql.binary)
    WITH FUNCTION mssql.binary_size(mssql.binary, integer, boolean) AS IMPLICIT;
CREATE CAST (mssql.varbinary AS mssql.binary) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (mssql.binary AS mssql.varbinary) WITHOUT FUNCTION AS IMPLICIT;
