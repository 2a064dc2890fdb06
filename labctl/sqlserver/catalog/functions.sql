-- T-SQL's built-in functions and operators where PostgreSQL's own differ or do not exist.

-- datetimeoffset compared with a date and time that has no offset: that one counts as UTC.
CREATE FUNCTION mssql.install_operator(sign text, left_type regtype, right_type regtype, function_name text)
    RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE OPERATOR mssql.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = mssql.%s)',
        sign, left_type, right_type, function_name);
EXCEPTION WHEN duplicate_function THEN
    NULL;
END $$;
DO $install$
DECLARE
    named record;
BEGIN
    FOR named IN SELECT * FROM (VALUES ('=', 'eq'), ('<>', 'ne'), ('<', 'lt'), ('<=', 'le'),
        ('>', 'gt'), ('>=', 'ge')) AS o (sign, name)
    LOOP
        EXECUTE format('CREATE OR REPLACE FUNCTION mssql.offset_%1$s(mssql.datetimeoffset, timestamp) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.offset_%1$s($1, mssql.timestamp_offset($2))', named.name);
        EXECUTE format('CREATE OR REPLACE FUNCTION mssql.offset_%1$s(timestamp, mssql.datetimeoffset) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.offset_%1$s(mssql.timestamp_offset($1), $2)', named.name);
        PERFORM mssql.install_operator(named.sign, 'mssql.datetimeoffset', 'timestamp', 'offset_' || named.name);
        PERFORM mssql.install_operator(named.sign, 'timestamp', 'mssql.datetimeoffset', 'offset_' || named.name);
    END LOOP;
END $install$;

-- Converted to a type without an offset, it gives its local time.
CREATE FUNCTION mssql.offset_minutes(mssql.datetimeoffset) RETURNS integer LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE RETURN CASE WHEN $1::text ~ '[+-]\d\d:\d\d$' THEN
        (substr(right($1::text, 6), 1, 1) || '1')::integer
        * (substr(right($1::text, 6), 2, 2)::integer * 60 + right($1::text, 2)::integer) ELSE 0 END;
CREATE FUNCTION mssql.offset_local(mssql.datetimeoffset) RETURNS timestamp LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE RETURN (mssql.offset_instant($1) AT TIME ZONE 'UTC')
        + make_interval(mins => mssql.offset_minutes($1));
CREATE FUNCTION mssql.offset_date(mssql.datetimeoffset) RETURNS date LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.offset_local($1)::date;
CREATE FUNCTION mssql.offset_time(mssql.datetimeoffset) RETURNS time LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.offset_local($1)::time;
CREATE FUNCTION mssql.offset_datetime(mssql.datetimeoffset) RETURNS mssql.datetime LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.timestamp_datetime(mssql.offset_local($1));
CREATE FUNCTION mssql.offset_smalldatetime(mssql.datetimeoffset) RETURNS mssql.smalldatetime
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.timestamp_smalldatetime(mssql.offset_local($1));
CREATE CAST (mssql.datetimeoffset AS timestamp) WITH FUNCTION mssql.offset_local(mssql.datetimeoffset) AS ASSIGNMENT;
CREATE CAST (mssql.datetimeoffset AS date) WITH FUNCTION mssql.offset_date(mssql.datetimeoffset) AS ASSIGNMENT;
CREATE CAST (mssql.datetimeoffset AS time) WITH FUNCTION mssql.offset_time(mssql.datetimeoffset) AS ASSIGNMENT;
CREATE CAST (mssql.datetimeoffset AS mssql.datetime) WITH FUNCTION mssql.offset_datetime(mssql.datetimeoffset) AS ASSIGNMENT;
CREATE CAST (mssql.datetimeoffset AS mssql.smalldatetime) WITH FUNCTION mssql.offset_smalldatetime(mssql.datetimeoffset) AS ASSIGNMENT;
CREATE FUNCTION mssql.datetime_offset(mssql.datetime) RETURNS mssql.datetimeoffset LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.timestamp_offset($1::timestamp);
CREATE CAST (mssql.datetime AS mssql.datetimeoffset) WITH FUNCTION mssql.datetime_offset(mssql.datetime) AS ASSIGNMENT;
CREATE FUNCTION mssql.date_offset(date) RETURNS mssql.datetimeoffset LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.timestamp_offset($1::timestamp);
CREATE CAST (date AS mssql.datetimeoffset) WITH FUNCTION mssql.date_offset(date) AS ASSIGNMENT;

-- Operators: + joins text, adds days to a date and time.
CREATE FUNCTION mssql.join_text(text, text) RETURNS text
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textcat';
CREATE OPERATOR mssql.+ (LEFTARG = text, RIGHTARG = text, FUNCTION = mssql.join_text);
CREATE FUNCTION mssql.add_days(timestamp, integer) RETURNS timestamp LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN $1 + make_interval(days => $2);
CREATE FUNCTION mssql.subtract_days(timestamp, integer) RETURNS timestamp LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE RETURN $1 - make_interval(days => $2);
CREATE OPERATOR mssql.+ (LEFTARG = timestamp, RIGHTARG = integer, FUNCTION = mssql.add_days);
CREATE OPERATOR mssql.- (LEFTARG = timestamp, RIGHTARG = integer, FUNCTION = mssql.subtract_days);
CREATE FUNCTION mssql.join_bytes(bytea, bytea) RETURNS bytea
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'byteacat';
CREATE OPERATOR mssql.+ (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = mssql.join_bytes);

-- Aggregates with SQL Server's result types.
CREATE FUNCTION mssql.int_avg_final(bigint[]) RETURNS integer LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN CASE WHEN $1[1] = 0 THEN NULL ELSE ($1[2] / $1[1])::integer END;
CREATE AGGREGATE mssql.average(integer) (
    SFUNC = int4_avg_accum, STYPE = bigint[], INITCOND = '{0,0}', FINALFUNC = mssql.int_avg_final);
CREATE FUNCTION mssql.bigint_avg_step(numeric[], bigint) RETURNS numeric[] LANGUAGE sql IMMUTABLE
    PARALLEL SAFE RETURN CASE WHEN $2 IS NULL THEN $1 ELSE ARRAY[$1[1] + 1, $1[2] + $2] END;
CREATE FUNCTION mssql.bigint_avg_final(numeric[]) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN CASE WHEN $1[1] = 0 THEN NULL ELSE trunc($1[2] / $1[1])::bigint END;
CREATE AGGREGATE mssql.average(bigint) (
    SFUNC = mssql.bigint_avg_step, STYPE = numeric[], INITCOND = '{0,0}',
    FINALFUNC = mssql.bigint_avg_final);
CREATE AGGREGATE mssql.average(double precision) (
    SFUNC = float8_accum, STYPE = double precision[], INITCOND = '{0,0,0}', FINALFUNC = float8_avg);
CREATE FUNCTION mssql.numeric_avg_step(numeric[], numeric) RETURNS numeric[] LANGUAGE sql IMMUTABLE
    PARALLEL SAFE RETURN CASE WHEN $2 IS NULL THEN $1 ELSE ARRAY[$1[1] + 1, $1[2] + $2] END;
CREATE FUNCTION mssql.numeric_avg_final(numeric[]) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN CASE WHEN $1[1] = 0 THEN NULL
        ELSE trunc($1[2] / $1[1], greatest(6, scale($1[2]))) END;
CREATE AGGREGATE mssql.average(numeric) (
    SFUNC = mssql.numeric_avg_step, STYPE = numeric[], INITCOND = '{0,0}',
    FINALFUNC = mssql.numeric_avg_final);
CREATE FUNCTION mssql.int_sum_step(bigint, integer) RETURNS bigint LANGUAGE sql IMMUTABLE
    PARALLEL SAFE RETURN CASE WHEN $2 IS NULL THEN $1 ELSE coalesce($1, 0) + $2 END;
CREATE FUNCTION mssql.int_sum_final(bigint) RETURNS integer LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN $1::integer;
CREATE AGGREGATE mssql.total(integer) (
    SFUNC = mssql.int_sum_step, STYPE = bigint, FINALFUNC = mssql.int_sum_final);
CREATE FUNCTION mssql.bigint_sum_step(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
    PARALLEL SAFE RETURN CASE WHEN $2 IS NULL THEN $1 ELSE coalesce($1, 0) + $2 END;
CREATE AGGREGATE mssql.total(bigint) (SFUNC = mssql.bigint_sum_step, STYPE = bigint);
CREATE AGGREGATE mssql.total(double precision) (SFUNC = float8pl, STYPE = double precision);
CREATE FUNCTION mssql.numeric_sum_step(numeric, numeric) RETURNS numeric LANGUAGE sql IMMUTABLE
    PARALLEL SAFE RETURN CASE WHEN $2 IS NULL THEN $1 ELSE coalesce($1, 0) + $2 END;
CREATE AGGREGATE mssql.total(numeric) (SFUNC = mssql.numeric_sum_step, STYPE = numeric);
CREATE FUNCTION mssql.bit_max_error(integer, mssql.bit) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RAISE EXCEPTION 'Operand data type bit is invalid for this aggregate operator.'
        USING ERRCODE = 'MSSQL', DETAIL = '8117,16,1';
END $$;
CREATE AGGREGATE mssql.total(mssql.bit) (SFUNC = mssql.bit_max_error, STYPE = integer);
CREATE AGGREGATE mssql.average(mssql.bit) (SFUNC = mssql.bit_max_error, STYPE = integer);

CREATE FUNCTION mssql.later(mssql.datetimeoffset, mssql.datetimeoffset)
    RETURNS mssql.datetimeoffset LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN mssql.offset_cmp($1, $2) >= 0 THEN $1 ELSE $2 END;
CREATE FUNCTION mssql.earlier(mssql.datetimeoffset, mssql.datetimeoffset)
    RETURNS mssql.datetimeoffset LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN mssql.offset_cmp($1, $2) <= 0 THEN $1 ELSE $2 END;
CREATE AGGREGATE mssql.max(mssql.datetimeoffset) (SFUNC = mssql.later, STYPE = mssql.datetimeoffset);
CREATE AGGREGATE mssql.min(mssql.datetimeoffset) (SFUNC = mssql.earlier, STYPE = mssql.datetimeoffset);

-- Text compared with a number is converted to the number's type; blanks are 0.
DO $install$
DECLARE
    named record;
    sides text[];
BEGIN
    FOR named IN SELECT * FROM (VALUES ('=', 'eq'), ('<>', 'ne'), ('<', 'lt'), ('<=', 'le'),
        ('>', 'gt'), ('>=', 'ge')) AS o (sign, name),
        unnest(ARRAY['integer', 'bigint', 'numeric', 'double precision']) AS n (number)
    LOOP
        FOREACH sides SLICE 1 IN ARRAY ARRAY[['text', named.number], [named.number, 'text']] LOOP
            EXECUTE format(
                $body$CREATE OR REPLACE FUNCTION mssql.compared_%1$s(%2$s, %3$s) RETURNS boolean
                    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN
                    coalesce(nullif(btrim($1::text), ''), '0')::%4$s OPERATOR(pg_catalog.%5$s)
                    coalesce(nullif(btrim($2::text), ''), '0')::%4$s$body$,
                named.name, sides[1], sides[2], named.number, named.sign);
            PERFORM mssql.install_operator(named.sign, sides[1]::regtype, sides[2]::regtype, 'compared_' || named.name);
        END LOOP;
    END LOOP;
END $install$;

-- Text.
CREATE FUNCTION mssql.len(text) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN length(rtrim($1, ' '));
CREATE FUNCTION mssql.charindex(text, text, integer DEFAULT 1) RETURNS integer LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN CASE
        WHEN strpos(substr($2, greatest($3, 1)), $1) = 0 OR $1 = '' THEN 0
        ELSE strpos(substr($2, greatest($3, 1)), $1) + greatest($3, 1) - 1 END;
CREATE FUNCTION mssql.stuff(text, integer, integer, text) RETURNS text LANGUAGE sql IMMUTABLE
    PARALLEL SAFE RETURN CASE
        WHEN $1 IS NULL OR $2 IS NULL OR $3 IS NULL OR $2 < 1 OR $3 < 0 OR $2 > length($1) THEN NULL
        ELSE substr($1, 1, $2 - 1) || coalesce($4, '') || substr($1, $2 + $3) END;
CREATE FUNCTION mssql.text_left(text, integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN substr($1, 1, $2);
CREATE FUNCTION mssql.text_right(text, integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN CASE WHEN $2 = 0 THEN '' ELSE "right"($1, $2) END;
CREATE FUNCTION mssql.substring(text, integer, integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN CASE WHEN $2 + $3 <= 1 THEN ''
        ELSE substr($1, greatest($2, 1), $3 - greatest(1 - $2, 0)) END;
CREATE FUNCTION mssql.substring(bytea, integer, integer) RETURNS bytea LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE RETURN substr($1, greatest($2, 1), $3 - greatest(1 - $2, 0));
-- What is longer than its type allows is cut off; `longest` is 0 for the types of any length.
CREATE FUNCTION mssql.replicate(text, integer, longest integer) RETURNS text LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE RETURN CASE
        WHEN $2 < 0 THEN NULL
        WHEN $3 = 0 THEN repeat($1, $2)
        ELSE substr(repeat($1, least($2, $3 / greatest(length($1), 1) + 1)), 1, $3) END;
CREATE FUNCTION mssql.space(integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN $1 >= 0 THEN repeat(' ', least($1, 8000)) END;
CREATE FUNCTION mssql.quotename(text, text DEFAULT '[') RETURNS text LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN CASE $2
        WHEN '[' THEN '[' || replace($1, ']', ']]') || ']'
        WHEN ']' THEN '[' || replace($1, ']', ']]') || ']'
        WHEN '''' THEN '''' || replace($1, '''', '''''') || ''''
        WHEN '"' THEN '"' || replace($1, '"', '""') || '"' END;
CREATE FUNCTION mssql.isnumeric(text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN $1 ~ '^\s*[-+$]?(\d+(,\d+)*(\.\d*)?|\.\d+)([eE][-+]?\d+)?\s*$' THEN 1 ELSE 0 END;
CREATE FUNCTION mssql.str(double precision, integer DEFAULT 10, integer DEFAULT 0) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN CASE WHEN $2 BETWEEN 0 AND 8000
        THEN lpad(round($1::numeric, least($3, 16))::text, $2) END;
CREATE FUNCTION mssql.like_pattern(pattern text, escape text) RETURNS text LANGUAGE plpgsql
    IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    out text := '^';
    at integer := 1;
    letter text;
    ending integer;
BEGIN
    WHILE at <= length(pattern) LOOP
        letter := substr(pattern, at, 1);
        IF escape IS NOT NULL AND letter = escape AND at < length(pattern) THEN
            at := at + 1;
            out := out || regexp_replace(substr(pattern, at, 1), '([^[:alnum:]_])', '\\\1');
        ELSIF letter = '%' THEN out := out || '.*';
        ELSIF letter = '_' THEN out := out || '.';
        ELSIF letter = '[' AND strpos(substr(pattern, at + 2), ']') > 0 THEN
            ending := at + 1 + strpos(substr(pattern, at + 2), ']');
            out := out || '[' || replace(replace(substr(pattern, at + 1, ending - at - 1),
                '\', '\\'), '[', '\[') || ']';
            at := ending;
        ELSE out := out || regexp_replace(letter, '([^[:alnum:]_\s])', '\\\1');
        END IF;
        at := at + 1;
    END LOOP;
    RETURN out || '$';
END $$;
CREATE FUNCTION mssql.like(text, text, text DEFAULT NULL) RETURNS boolean LANGUAGE sql IMMUTABLE
    PARALLEL SAFE RETURN $1 ~ ('(?s)' || mssql.like_pattern($2, $3));
CREATE FUNCTION mssql.patindex(text, text) RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT
    PARALLEL SAFE AS $$
DECLARE
    core text := $1;
BEGIN
    FOR at IN 1 .. length($2) LOOP
        EXIT WHEN core NOT LIKE '\%%' AND at > 1;
        IF mssql.like(substr($2, at), ltrim(core, '%')) THEN RETURN at; END IF;
    END LOOP;
    RETURN 0;
END $$;

-- DATALENGTH: bytes as SQL Server stores them.
CREATE FUNCTION mssql.datalength(text) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN octet_length($1);
CREATE FUNCTION mssql.datalength(mssql.nvarchar) RETURNS integer LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN 2 * length($1::text);
CREATE FUNCTION mssql.datalength(bpchar) RETURNS integer LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN octet_length($1);
CREATE FUNCTION mssql.datalength(mssql.nchar) RETURNS integer LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN 2 * octet_length($1::bpchar);
CREATE FUNCTION mssql.datalength(bytea) RETURNS integer LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN length($1);
CREATE FUNCTION mssql.datalength(integer) RETURNS integer LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN 4;
CREATE FUNCTION mssql.datalength(bigint) RETURNS integer LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN 8;

-- Dates.
CREATE FUNCTION mssql.getdate() RETURNS mssql.datetime LANGUAGE sql STABLE
    RETURN mssql.timestamp_datetime(statement_timestamp() AT TIME ZONE 'UTC');
CREATE FUNCTION mssql.sysdatetime() RETURNS timestamp LANGUAGE sql STABLE
    RETURN statement_timestamp() AT TIME ZONE 'UTC';
CREATE FUNCTION mssql.sysdatetimeoffset() RETURNS mssql.datetimeoffset LANGUAGE sql STABLE
    RETURN mssql.instant_offset(statement_timestamp(), 0);
CREATE FUNCTION mssql.todatetimeoffset(timestamp, integer) RETURNS mssql.datetimeoffset
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.instant_offset(($1 - make_interval(mins => $2)) AT TIME ZONE 'UTC', $2);
CREATE FUNCTION mssql.switchoffset(mssql.datetimeoffset, integer) RETURNS mssql.datetimeoffset
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.instant_offset(mssql.offset_instant($1), $2);
-- An offset written '+02:00', in minutes.
CREATE FUNCTION mssql.offset_named(text) RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT
    PARALLEL SAFE AS $$
BEGIN
    IF $1 !~ '^\s*[+-]\d\d?:\d\d\s*$' THEN
        RAISE EXCEPTION 'The timezone provided to builtin function is invalid.'
            USING ERRCODE = 'MSSQL', DETAIL = '9812,16,0';
    END IF;
    RETURN extract(epoch FROM $1::interval)::integer / 60;
END $$;
CREATE FUNCTION mssql.todatetimeoffset(timestamp, text) RETURNS mssql.datetimeoffset
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.todatetimeoffset($1, mssql.offset_named($2));
CREATE FUNCTION mssql.switchoffset(mssql.datetimeoffset, text) RETURNS mssql.datetimeoffset
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.switchoffset($1, mssql.offset_named($2));
CREATE FUNCTION mssql.datepart(part text, at timestamp) RETURNS integer LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE RETURN CASE part
        WHEN 'year' THEN extract(year FROM at)::integer
        WHEN 'quarter' THEN extract(quarter FROM at)::integer
        WHEN 'month' THEN extract(month FROM at)::integer
        WHEN 'dayofyear' THEN extract(doy FROM at)::integer
        WHEN 'day' THEN extract(day FROM at)::integer
        WHEN 'iso_week' THEN extract(week FROM at)::integer
        WHEN 'hour' THEN extract(hour FROM at)::integer
        WHEN 'minute' THEN extract(minute FROM at)::integer
        WHEN 'second' THEN trunc(extract(second FROM at))::integer
        WHEN 'millisecond' THEN extract(microseconds FROM at)::integer % 1000000 / 1000
        WHEN 'microsecond' THEN extract(microseconds FROM at)::integer % 1000000
        WHEN 'nanosecond' THEN extract(microseconds FROM at)::integer % 1000000 * 1000
        WHEN 'tzoffset' THEN 0 END;
CREATE FUNCTION mssql.datepart(part text, at mssql.datetimeoffset) RETURNS integer LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN CASE part
        WHEN 'tzoffset' THEN mssql.offset_minutes(at)
        ELSE mssql.datepart(part, mssql.offset_local(at)) END;
CREATE FUNCTION mssql.datepart(part text, at text) RETURNS integer LANGUAGE sql STABLE STRICT
    PARALLEL SAFE RETURN mssql.datepart(part, at::timestamp);
CREATE FUNCTION mssql.datepart(part text, at time) RETURNS integer LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.datepart(part, timestamp '1900-01-01' + at);
-- The parts that SET DATEFIRST moves: the weekday's number, and the week of the year.
CREATE FUNCTION mssql.date_first() RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce(nullif(current_setting('mssql.date_first', true), ''), '7')::integer;
CREATE FUNCTION mssql.weekday(at timestamp) RETURNS integer LANGUAGE sql STABLE STRICT
    PARALLEL SAFE RETURN (extract(dow FROM at)::integer + 7 - mssql.date_first()) % 7 + 1;
CREATE FUNCTION mssql.week_part(part text, at timestamp) RETURNS integer LANGUAGE sql STABLE STRICT
    PARALLEL SAFE RETURN CASE part
        WHEN 'weekday' THEN mssql.weekday(at)
        ELSE (extract(doy FROM at)::integer + mssql.weekday(date_trunc('year', at)) - 2) / 7 + 1 END;
CREATE FUNCTION mssql.week_part(part text, at mssql.datetimeoffset) RETURNS integer LANGUAGE sql
    STABLE STRICT PARALLEL SAFE RETURN mssql.week_part(part, mssql.offset_local(at));
CREATE FUNCTION mssql.week_part(part text, at text) RETURNS integer LANGUAGE sql STABLE STRICT
    PARALLEL SAFE RETURN mssql.week_part(part, at::timestamp);
CREATE FUNCTION mssql.datename(part text, at timestamp) RETURNS text LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN CASE part
        WHEN 'month' THEN to_char(at, 'FMMonth')
        WHEN 'weekday' THEN to_char(at, 'FMDay')
        ELSE mssql.datepart(part, at)::text END;
CREATE FUNCTION mssql.datename(part text, at mssql.datetimeoffset) RETURNS text LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN CASE part
        WHEN 'tzoffset' THEN right(at::text, 6) ELSE mssql.datename(part, mssql.offset_local(at)) END;
CREATE FUNCTION mssql.datename(part text, at text) RETURNS text LANGUAGE sql STABLE STRICT
    PARALLEL SAFE RETURN mssql.datename(part, at::timestamp);
CREATE FUNCTION mssql.date_step(part text, count integer) RETURNS interval LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE RETURN CASE part
        WHEN 'year' THEN make_interval(years => count)
        WHEN 'quarter' THEN make_interval(months => 3 * count)
        WHEN 'month' THEN make_interval(months => count)
        WHEN 'week' THEN make_interval(weeks => count)
        WHEN 'day' THEN make_interval(days => count)
        WHEN 'dayofyear' THEN make_interval(days => count)
        WHEN 'weekday' THEN make_interval(days => count)
        WHEN 'hour' THEN make_interval(hours => count)
        WHEN 'minute' THEN make_interval(mins => count)
        WHEN 'second' THEN make_interval(secs => count)
        WHEN 'millisecond' THEN count * interval '1 millisecond'
        WHEN 'microsecond' THEN count * interval '1 microsecond' END;
CREATE FUNCTION mssql.dateadd(part text, count integer, at timestamp) RETURNS timestamp LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN at + mssql.date_step(part, count);
CREATE FUNCTION mssql.dateadd(part text, count integer, at mssql.datetime) RETURNS mssql.datetime
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.timestamp_datetime(at::timestamp + mssql.date_step(part, count));
CREATE FUNCTION mssql.dateadd(part text, count integer, at date) RETURNS date LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN (at + mssql.date_step(part, count))::date;
CREATE FUNCTION mssql.dateadd(part text, count integer, at text) RETURNS mssql.datetime LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.timestamp_datetime(at::timestamp + mssql.date_step(part, count));
CREATE FUNCTION mssql.dateadd(part text, count integer, at mssql.datetimeoffset)
    RETURNS mssql.datetimeoffset LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.instant_offset(mssql.offset_instant(at) + mssql.date_step(part, count),
        mssql.offset_minutes(at));
CREATE FUNCTION mssql.datediff_big(part text, starts timestamp, ends timestamp) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN CASE part
        WHEN 'year' THEN (extract(year FROM ends) - extract(year FROM starts))::bigint
        WHEN 'quarter' THEN (extract(year FROM ends) * 4 + extract(quarter FROM ends)
            - extract(year FROM starts) * 4 - extract(quarter FROM starts))::bigint
        WHEN 'month' THEN (extract(year FROM ends) * 12 + extract(month FROM ends)
            - extract(year FROM starts) * 12 - extract(month FROM starts))::bigint
        WHEN 'week' THEN (((ends::date - extract(dow FROM ends)::integer)
            - (starts::date - extract(dow FROM starts)::integer)) / 7)::bigint
        WHEN 'day' THEN (ends::date - starts::date)::bigint
        WHEN 'dayofyear' THEN (ends::date - starts::date)::bigint
        WHEN 'weekday' THEN (ends::date - starts::date)::bigint
        WHEN 'hour' THEN (extract(epoch FROM date_trunc('hour', ends) - date_trunc('hour', starts)) / 3600)::bigint
        WHEN 'minute' THEN (extract(epoch FROM date_trunc('minute', ends) - date_trunc('minute', starts)) / 60)::bigint
        WHEN 'second' THEN extract(epoch FROM date_trunc('second', ends) - date_trunc('second', starts))::bigint
        WHEN 'millisecond' THEN (extract(epoch FROM date_trunc('milliseconds', ends)
            - date_trunc('milliseconds', starts)) * 1000)::bigint
        WHEN 'microsecond' THEN (extract(epoch FROM ends - starts) * 1000000)::bigint END;
CREATE FUNCTION mssql.datediff(part text, starts timestamp, ends timestamp) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mssql.datediff_big(part, starts, ends)::integer;
CREATE FUNCTION mssql.datediff_big(part text, starts mssql.datetimeoffset,
    ends mssql.datetimeoffset) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.datediff_big(part, mssql.offset_instant(starts) AT TIME ZONE 'UTC',
        mssql.offset_instant(ends) AT TIME ZONE 'UTC');
CREATE FUNCTION mssql.datediff(part text, starts mssql.datetimeoffset, ends mssql.datetimeoffset)
    RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.datediff_big(part, starts, ends)::integer;
CREATE FUNCTION mssql.datediff(part text, starts mssql.datetimeoffset, ends timestamp)
    RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.datediff(part, starts, mssql.timestamp_offset(ends));
CREATE FUNCTION mssql.datediff(part text, starts timestamp, ends mssql.datetimeoffset)
    RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.datediff(part, mssql.timestamp_offset(starts), ends);
CREATE FUNCTION mssql.datediff(part text, starts text, ends text)
    RETURNS integer LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN mssql.datediff(part, starts::timestamp, ends::timestamp);
CREATE FUNCTION mssql.datediff(part text, starts mssql.datetime, ends text)
    RETURNS integer LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN mssql.datediff(part, starts::timestamp, ends::timestamp);
CREATE FUNCTION mssql.datediff(part text, starts text, ends mssql.datetime)
    RETURNS integer LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN mssql.datediff(part, starts::timestamp, ends::timestamp);

-- DATETRUNC keeps its argument's type.
CREATE FUNCTION mssql.datetrunc(part text, at timestamp) RETURNS timestamp LANGUAGE sql STABLE
    STRICT PARALLEL SAFE RETURN CASE part
        WHEN 'dayofyear' THEN date_trunc('day', at)
        WHEN 'week' THEN date_trunc('day', at) - make_interval(days => mssql.weekday(at) - 1)
        WHEN 'iso_week' THEN date_trunc('week', at)
        WHEN 'millisecond' THEN date_trunc('milliseconds', at)
        WHEN 'microsecond' THEN date_trunc('microseconds', at)
        ELSE date_trunc(part, at) END;
CREATE FUNCTION mssql.datetrunc(part text, at mssql.datetime) RETURNS mssql.datetime LANGUAGE sql
    STABLE STRICT PARALLEL SAFE
    RETURN mssql.timestamp_datetime(mssql.datetrunc(part, at::timestamp));
CREATE FUNCTION mssql.datetrunc(part text, at text) RETURNS timestamp LANGUAGE sql
    STABLE STRICT PARALLEL SAFE RETURN mssql.datetrunc(part, at::timestamp);
CREATE FUNCTION mssql.datetrunc(part text, at mssql.datetimeoffset) RETURNS mssql.datetimeoffset
    LANGUAGE sql STABLE STRICT PARALLEL SAFE RETURN mssql.todatetimeoffset(
        mssql.datetrunc(part, mssql.offset_local(at)), mssql.offset_minutes(at));
CREATE FUNCTION mssql.datetrunc(part text, at date) RETURNS date LANGUAGE plpgsql STABLE STRICT
    PARALLEL SAFE AS $$
BEGIN
    IF part IN ('hour', 'minute', 'second', 'millisecond', 'microsecond') THEN
        RAISE EXCEPTION 'The datepart % is not supported by date function datetrunc for data type date.', part
            USING ERRCODE = 'MSSQL', DETAIL = '9810,16,1';
    END IF;
    RETURN mssql.datetrunc(part, at::timestamp)::date;
END $$;
CREATE FUNCTION mssql.datetrunc(part text, at time) RETURNS time LANGUAGE plpgsql STABLE STRICT
    PARALLEL SAFE AS $$
BEGIN
    IF part NOT IN ('hour', 'minute', 'second', 'millisecond', 'microsecond') THEN
        RAISE EXCEPTION 'The datepart % is not supported by date function datetrunc for data type time.', part
            USING ERRCODE = 'MSSQL', DETAIL = '9810,16,1';
    END IF;
    RETURN mssql.datetrunc(part, timestamp '1900-01-01' + at)::time;
END $$;
CREATE FUNCTION mssql.eomonth(timestamp, integer DEFAULT 0) RETURNS date LANGUAGE sql IMMUTABLE
    STRICT PARALLEL SAFE
    RETURN (date_trunc('month', $1) + make_interval(months => $2 + 1) - interval '1 day')::date;
CREATE FUNCTION mssql.isdate(text) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN pg_input_is_valid($1, 'timestamp') THEN 1 ELSE 0 END;
CREATE FUNCTION mssql.date_format(style integer) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
    PARALLEL SAFE AS $$
DECLARE
    format text := CASE style
        WHEN 0 THEN 'Mon FMDD YYYY FMHH12:MIAM' WHEN 100 THEN 'Mon FMDD YYYY FMHH12:MIAM'
        WHEN 1 THEN 'MM/DD/YY' WHEN 101 THEN 'MM/DD/YYYY'
        WHEN 102 THEN 'YYYY.MM.DD' WHEN 103 THEN 'DD/MM/YYYY' WHEN 104 THEN 'DD.MM.YYYY'
        WHEN 105 THEN 'DD-MM-YYYY' WHEN 106 THEN 'DD Mon YYYY' WHEN 107 THEN 'Mon DD, YYYY'
        WHEN 108 THEN 'HH24:MI:SS' WHEN 110 THEN 'MM-DD-YYYY' WHEN 111 THEN 'YYYY/MM/DD'
        WHEN 112 THEN 'YYYYMMDD' WHEN 114 THEN 'HH24:MI:SS:MS'
        WHEN 20 THEN 'YYYY-MM-DD HH24:MI:SS' WHEN 120 THEN 'YYYY-MM-DD HH24:MI:SS'
        WHEN 21 THEN 'YYYY-MM-DD HH24:MI:SS.MS' WHEN 121 THEN 'YYYY-MM-DD HH24:MI:SS.MS'
        WHEN 23 THEN 'YYYY-MM-DD' WHEN 126 THEN 'YYYY-MM-DD"T"HH24:MI:SS.MS'
        WHEN 127 THEN 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"' END;
BEGIN
    IF format IS NULL THEN
        RAISE EXCEPTION 'The style % is not supported for conversions from date and time to a character string.', style
            USING ERRCODE = 'MSSQL', DETAIL = '281,16,1';
    END IF;
    RETURN format;
END $$;
CREATE FUNCTION mssql.convert_text(timestamp, integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN to_char($1, mssql.date_format($2));
CREATE FUNCTION mssql.convert_text(mssql.datetimeoffset, integer) RETURNS text LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN CASE
        WHEN $2 IN (0, 20, 21, 100, 120, 121)
            THEN to_char(mssql.offset_local($1), mssql.date_format($2)) || ' ' || right($1::text, 6)
        WHEN $2 = 126 THEN to_char(mssql.offset_local($1), mssql.date_format($2)) || right($1::text, 6)
        WHEN $2 = 127 THEN to_char(mssql.offset_instant($1) AT TIME ZONE 'UTC', mssql.date_format($2))
        ELSE to_char(mssql.offset_local($1), mssql.date_format($2)) END;
CREATE FUNCTION mssql.convert_text(bytea, integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN CASE $2 WHEN 1 THEN '0x' || upper(encode($1, 'hex'))
        WHEN 2 THEN upper(encode($1, 'hex')) ELSE convert_from($1, 'UTF8') END;
CREATE FUNCTION mssql.convert_text(numeric, integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN $1::text;
CREATE FUNCTION mssql.convert_text(text, integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN $1;
CREATE FUNCTION mssql.convert_bytes(text, integer) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN CASE $2 WHEN 1 THEN decode(substr($1, 3), 'hex')
        WHEN 2 THEN decode($1, 'hex') ELSE convert_to($1, 'UTF8') END;
CREATE FUNCTION mssql.try_input(text, text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN pg_input_is_valid($1, $2) THEN $1 END;
CREATE FUNCTION mssql.to_text(timestamp) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN to_char($1, 'YYYY-MM-DD HH24:MI:SS.US') || '0';
CREATE FUNCTION mssql.to_text(mssql.datetime) RETURNS text LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN to_char($1::timestamp, 'Mon FMDD YYYY FMHH12:MIAM');
CREATE FUNCTION mssql.to_text(anyelement) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS 'SELECT $1::text';
CREATE FUNCTION mssql.to_text(date) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN to_char($1::timestamp, 'YYYY-MM-DD');
CREATE FUNCTION mssql.to_text(time) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN to_char($1, 'HH24:MI:SS.US') || '0';
CREATE FUNCTION mssql.to_text(mssql.bit) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN mssql.bit_text($1);
CREATE FUNCTION mssql.to_text(uuid) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN upper($1::text);
CREATE FUNCTION mssql.to_text(mssql.money) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN round($1::numeric, 2)::text;
CREATE FUNCTION mssql.random_integer() RETURNS integer LANGUAGE sql VOLATILE
    RETURN random(-2147483648, 2147483647);
CREATE FUNCTION mssql.newid() RETURNS uuid LANGUAGE sql VOLATILE RETURN gen_random_uuid();
CREATE FUNCTION mssql.round(numeric, integer, integer DEFAULT 0) RETURNS numeric LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE RETURN CASE WHEN $3 = 0
        THEN pg_catalog.round($1, $2) ELSE trunc($1, $2) END;
CREATE FUNCTION mssql.round(double precision, integer, integer DEFAULT 0) RETURNS double precision
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN CASE WHEN $3 = 0
        THEN pg_catalog.round($1::numeric, $2) ELSE trunc($1::numeric, $2) END::double precision;
CREATE FUNCTION mssql.round(integer, integer, integer DEFAULT 0) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN CASE WHEN $3 = 0
        THEN pg_catalog.round($1::numeric, $2) ELSE trunc($1::numeric, $2) END::integer;
CREATE FUNCTION mssql.checksum_bytes(text, text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN CASE lower($1)
        WHEN 'md5' THEN decode(md5($2), 'hex') WHEN 'sha2_256' THEN sha256(convert_to($2, 'UTF8'))
        WHEN 'sha2_512' THEN sha512(convert_to($2, 'UTF8')) END;

-- COUNT is an int, COUNT_BIG a bigint.
CREATE FUNCTION mssql.count_final(bigint) RETURNS integer LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN $1::integer;
CREATE AGGREGATE mssql.row_count(*) (
    SFUNC = int8inc, STYPE = bigint, INITCOND = '0', FINALFUNC = mssql.count_final);
CREATE AGGREGATE mssql.row_count("any") (
    SFUNC = int8inc_any, STYPE = bigint, INITCOND = '0', FINALFUNC = mssql.count_final);

-- CAST to whole numbers cuts fractions off, where PostgreSQL rounds.
CREATE FUNCTION mssql.to_integer(numeric) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN trunc($1)::bigint;
CREATE FUNCTION mssql.to_integer(double precision) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN trunc($1)::bigint;
CREATE FUNCTION mssql.to_integer(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN $1;
CREATE FUNCTION mssql.to_integer(integer) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN $1::bigint;
CREATE FUNCTION mssql.to_integer(mssql.bit) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN mssql.bit_bigint($1);
CREATE FUNCTION mssql.to_integer(text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN CASE WHEN btrim($1) = '' THEN 0 ELSE $1::bigint END;
CREATE FUNCTION mssql.to_integer(bytea) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN ('x' || lpad(right(encode($1, 'hex'), 16), 16, '0'))::bit(64)::bigint;
CREATE FUNCTION mssql.to_bytes(text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN convert_to($1, 'UTF8');
CREATE FUNCTION mssql.to_bytes(bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN $1;
CREATE FUNCTION mssql.to_bytes(integer) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN int4send($1);
CREATE FUNCTION mssql.to_bytes(bigint) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN int8send($1);
CREATE FUNCTION mssql.to_bytes(uuid) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN uuid_send($1);
CREATE FUNCTION mssql.to_text(bytea) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN convert_from($1, 'UTF8');

CREATE FUNCTION mssql.serverproperty(text) RETURNS mssql.nvarchar LANGUAGE sql STABLE RETURN CASE lower($1)
    WHEN 'productversion' THEN '16.0.1000.6' WHEN 'productlevel' THEN 'RTM'
    WHEN 'productmajorversion' THEN '16' WHEN 'productminorversion' THEN '0'
    WHEN 'edition' THEN 'Developer Edition (stand-in)' WHEN 'engineedition' THEN '3'
    WHEN 'instancedefaultdatapath' THEN '/' WHEN 'instancedefaultlogpath' THEN '/'
    WHEN 'servername' THEN 'STANDIN' WHEN 'machinename' THEN 'STANDIN'
    WHEN 'collation' THEN 'Latin1_General_100_BIN2_UTF8' WHEN 'isclustered' THEN '0'
    WHEN 'ishadrenabled' THEN '0' WHEN 'issingleuser' THEN '0' WHEN 'isxtpsupported' THEN '0'
    WHEN 'isintegratedsecurityonly' THEN '0' WHEN 'isfulltextinstalled' THEN '0'
    WHEN 'lcid' THEN '1033' WHEN 'sqlcharsetname' THEN 'utf_8' END;
CREATE FUNCTION mssql.parsename(text, integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT
    PARALLEL SAFE RETURN btrim((string_to_array($1, '.'))[cardinality(string_to_array($1, '.')) + 1 - $2], '[]"');
CREATE FUNCTION mssql.databasepropertyex(text, text) RETURNS mssql.nvarchar LANGUAGE sql STABLE
    RETURN CASE lower($2) WHEN 'collation' THEN 'Latin1_General_100_BIN2_UTF8'
        WHEN 'status' THEN 'ONLINE' WHEN 'updateability' THEN 'READ_WRITE'
        WHEN 'recovery' THEN 'FULL' WHEN 'useraccess' THEN 'MULTI_USER' WHEN 'version' THEN '957' END;

-- Functions that return tables.
CREATE FUNCTION mssql.json_rows(text) RETURNS TABLE (object jsonb) LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT element FROM jsonb_array_elements(
        CASE jsonb_typeof($1::jsonb) WHEN 'array' THEN $1::jsonb ELSE jsonb_build_array($1::jsonb) END
    ) AS element
$$;
CREATE FUNCTION mssql.string_split(text, text) RETURNS TABLE (value mssql.nvarchar) LANGUAGE sql
    IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT part::mssql.nvarchar FROM unnest(string_to_array($1, $2)) AS part
$$;
CREATE FUNCTION mssql.generate_series(integer, integer, integer DEFAULT 1)
    RETURNS TABLE (value integer) LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT n FROM pg_catalog.generate_series($1, $2, $3) AS n
$$;
