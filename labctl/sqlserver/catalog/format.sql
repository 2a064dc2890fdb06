-- FORMAT: .NET's format strings for numbers and for dates and times, in the culture en-US.
-- A pattern that is not done here is refused by name; so are those whose result depends on the
-- version of Windows, like 'P' and 'C' of a negative number.

CREATE FUNCTION mssql.refuse_format(pattern text, kind text) RETURNS text LANGUAGE plpgsql
    IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RAISE EXCEPTION 'FORMAT of a % with the pattern ''%'' is not supported by this SQL Server stand-in.', kind, pattern
        USING ERRCODE = 'MSSQL', DETAIL = '40517,16,1';
END $$;
CREATE FUNCTION mssql.check_culture(culture text) RETURNS void LANGUAGE plpgsql IMMUTABLE
    PARALLEL SAFE AS $$
BEGIN
    IF lower(culture) <> 'en-us' THEN
        RAISE EXCEPTION 'FORMAT with the culture % is not supported by this SQL Server stand-in (it has en-US only).', culture
            USING ERRCODE = 'MSSQL', DETAIL = '40517,16,1';
    END IF;
END $$;

CREATE FUNCTION mssql.format_instant(at timestamp, pattern text, culture text, zone text)
    RETURNS mssql.nvarchar LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    long text := coalesce(CASE pattern
        WHEN 'd' THEN 'M/d/yyyy' WHEN 'D' THEN 'dddd, MMMM d, yyyy' WHEN 't' THEN 'h:mm tt'
        WHEN 'T' THEN 'h:mm:ss tt' WHEN 'f' THEN 'dddd, MMMM d, yyyy h:mm tt'
        WHEN 'F' THEN 'dddd, MMMM d, yyyy h:mm:ss tt' WHEN 'g' THEN 'M/d/yyyy h:mm tt'
        WHEN 'G' THEN 'M/d/yyyy h:mm:ss tt' WHEN 's' THEN 'yyyy-MM-dd''T''HH:mm:ss'
        END, pattern);
    rest text := long;
    run text;
    result text := '';
BEGIN
    IF at IS NULL OR pattern IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM mssql.check_culture(culture);
    IF length(long) = 1 OR long = '' THEN
        RETURN mssql.refuse_format(pattern, 'date');
    END IF;
    WHILE rest <> '' LOOP
        run := coalesce(substring(rest FROM '^(?:''[^'']*''|"[^"]*"|\\.)'),
            substring(rest FROM '^([a-zA-Z])\1*'), left(rest, 1));
        run := CASE WHEN run ~ '^[a-zA-Z]$' THEN substring(rest FROM '^' || run || '+') ELSE run END;
        rest := substr(rest, length(run) + 1);
        result := result || CASE
            WHEN run ~ '^[''"]' THEN substr(run, 2, length(run) - 2)
            WHEN run ~ '^\\' THEN substr(run, 2)
            WHEN run ~ '^y{4,}$' THEN lpad(extract(year FROM at)::text, length(run), '0')
            WHEN run = 'yyy' THEN lpad(extract(year FROM at)::text, 3, '0')
            WHEN run = 'yy' THEN to_char(at, 'YY')
            WHEN run = 'y' THEN (extract(year FROM at)::integer % 100)::text
            WHEN run = 'M' THEN extract(month FROM at)::text WHEN run = 'MM' THEN to_char(at, 'MM')
            WHEN run = 'MMM' THEN to_char(at, 'Mon') WHEN run ~ '^M+$' THEN to_char(at, 'FMMonth')
            WHEN run = 'd' THEN extract(day FROM at)::text WHEN run = 'dd' THEN to_char(at, 'DD')
            WHEN run = 'ddd' THEN to_char(at, 'Dy') WHEN run ~ '^d+$' THEN to_char(at, 'FMDay')
            WHEN run = 'H' THEN extract(hour FROM at)::text WHEN run ~ '^H+$' THEN to_char(at, 'HH24')
            WHEN run = 'h' THEN to_char(at, 'FMHH12') WHEN run ~ '^h+$' THEN to_char(at, 'HH12')
            WHEN run = 'm' THEN extract(minute FROM at)::text WHEN run ~ '^m+$' THEN to_char(at, 'MI')
            WHEN run = 's' THEN trunc(extract(second FROM at))::text
            WHEN run ~ '^s+$' THEN to_char(at, 'SS')
            WHEN run ~ '^f{1,7}$' THEN left(to_char(at, 'US') || '0', length(run))
            WHEN run = 't' THEN left(to_char(at, 'AM'), 1) WHEN run ~ '^t+$' THEN to_char(at, 'AM')
            WHEN run ~ '^z{3,}$' AND zone IS NOT NULL THEN zone
            WHEN run ~ '[a-zA-Z%]' THEN mssql.refuse_format(pattern, 'date')
            ELSE run END;
    END LOOP;
    RETURN result;
END $$;
CREATE FUNCTION mssql.format_value(timestamp, text, text DEFAULT 'en-US') RETURNS mssql.nvarchar
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN mssql.format_instant($1, $2, $3, NULL);
CREATE FUNCTION mssql.format_value(mssql.datetimeoffset, text, text DEFAULT 'en-US')
    RETURNS mssql.nvarchar LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN mssql.format_instant(mssql.offset_local($1), $2, $3, right($1::text, 6));

-- 0 and # with a decimal point, thousands and a percent sign; text may stand before and after them.
CREATE FUNCTION mssql.format_places(value numeric, pattern text) RETURNS text LANGUAGE plpgsql
    IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    plain text := regexp_replace(pattern, '''[^'']*''|"[^"]*"|\\.', '', 'g');
    parts text[] := regexp_match(pattern, '^((?:[^0#.,%;E''"\\]|''[^'']*''|"[^"]*"|\\.)*)([0#,]*)(?:\.([0#]*))?((?:[^0#.,;E''"\\]|''[^'']*''|"[^"]*"|\\.)*)$');
    places text := coalesce(parts[3], '');
    scaled numeric := round(abs(value) * CASE WHEN plain LIKE '%\%%' THEN 100 ELSE 1 END, length(places));
    digits text[] := string_to_array(scaled::text, '.');
    whole text;
    fraction text;
BEGIN
    IF parts IS NULL OR coalesce(parts[2], '') || places !~ '[0#]' OR parts[2] ~ ',$|^,|0,*#'
        OR places ~ '#0' OR regexp_count(plain, '%') > 1 OR plain ~ '‰' THEN
        RETURN mssql.refuse_format(pattern, 'number');
    END IF;
    whole := lpad(CASE WHEN digits[1] = '0' THEN '' ELSE digits[1] END,
        greatest(length(CASE WHEN digits[1] = '0' THEN '' ELSE digits[1] END), regexp_count(parts[2], '0')), '0');
    IF parts[2] LIKE '%,%' THEN
        whole := reverse(regexp_replace(reverse(whole), '(\d{3})(?=\d)', '\1,', 'g'));
    END IF;
    fraction := coalesce(digits[2], '');
    WHILE length(fraction) > regexp_count(places, '0') AND fraction LIKE '%0' LOOP
        fraction := left(fraction, -1);
    END LOOP;
    RETURN CASE WHEN value < 0 AND scaled <> 0 THEN '-' ELSE '' END
        || regexp_replace(parts[1], '''([^'']*)''|"([^"]*)"|\\(.)', '\1\2\3', 'g')
        || whole || CASE WHEN fraction <> '' THEN '.' || fraction ELSE '' END
        || regexp_replace(parts[4], '''([^'']*)''|"([^"]*)"|\\(.)', '\1\2\3', 'g');
END $$;
CREATE FUNCTION mssql.format_value(value numeric, pattern text, culture text DEFAULT 'en-US')
    RETURNS mssql.nvarchar LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    kind text := upper((regexp_match(pattern, '^([A-Za-z])\d{0,2}$'))[1]);
    given integer := CASE WHEN kind IS NOT NULL THEN nullif(substr(pattern, 2), '')::integer END;
    digits integer := coalesce(given, CASE kind WHEN 'D' THEN 1 ELSE 2 END);
    sign text := CASE WHEN value < 0 THEN '-' ELSE '' END;
BEGIN
    IF value IS NULL OR pattern IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM mssql.check_culture(culture);
    RETURN CASE
        WHEN kind IS NULL THEN mssql.format_places(value, pattern)
        WHEN kind = 'N' THEN mssql.format_places(value, '#,0.' || repeat('0', digits))
        WHEN kind = 'F' THEN mssql.format_places(value, '0.' || repeat('0', digits))
        WHEN kind = 'C' AND value >= 0
            THEN '$' || mssql.format_places(value, '#,0.' || repeat('0', digits))
        WHEN kind = 'D' AND value = trunc(value) AND scale(value) = 0 THEN sign
            || lpad(abs(value)::text, greatest(digits, length(abs(value)::text)), '0')
        WHEN kind = 'G' AND given IS NULL THEN value::text
        WHEN kind = 'X' AND value BETWEEN 0 AND 9223372036854775807 AND scale(value) = 0 THEN
            (SELECT lpad(CASE WHEN left(pattern, 1) = 'X' THEN upper(h) ELSE h END,
                greatest(coalesce(given, 1), length(h)), '0') FROM to_hex(value::bigint) AS h)
        ELSE mssql.refuse_format(pattern, 'number') END;
END $$;
CREATE FUNCTION mssql.format_value(double precision, text, text DEFAULT 'en-US') RETURNS mssql.nvarchar
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN mssql.format_value($1::numeric, $2, $3);
CREATE FUNCTION mssql.format_value(integer, text, text DEFAULT 'en-US') RETURNS mssql.nvarchar
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN mssql.format_value($1::numeric, $2, $3);
CREATE FUNCTION mssql.format_value(mssql.tinyint, text, text DEFAULT 'en-US') RETURNS mssql.nvarchar
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN mssql.format_value($1::integer, $2, $3);
CREATE FUNCTION mssql.format_value(bigint, text, text DEFAULT 'en-US') RETURNS mssql.nvarchar
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN mssql.format_value($1::numeric, $2, $3);
