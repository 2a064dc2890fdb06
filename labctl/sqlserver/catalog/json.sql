-- JSON as SQL Server has it: text, read by paths such as '$.orders[0]."ship to"'.

-- ISJSON: by default an object or an array counts, a scalar does not.
CREATE FUNCTION mssql.isjson(document text, wanted text DEFAULT NULL) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF document IS NULL OR NOT pg_input_is_valid(document, 'json') THEN
        RETURN CASE WHEN document IS NOT NULL THEN 0 END;
    END IF;
    RETURN (CASE json_typeof(document::json)
        WHEN 'object' THEN coalesce(wanted, 'object') IN ('object', 'value')
        WHEN 'array' THEN coalesce(wanted, 'array') IN ('array', 'value')
        ELSE coalesce(wanted, '') IN ('scalar', 'value') END)::integer;
END $$;

-- A path's steps: ".name" for a member, "[n]" for an element of an array.
CREATE FUNCTION mssql.json_steps(path text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT
    PARALLEL SAFE AS $$
DECLARE
    rest text := regexp_replace(path, '^\s*(lax|strict)?\s*\$', '', 'i');
    step text[];
    steps text[] := '{}';
BEGIN
    IF path !~* '^\s*((lax|strict)\s+)?\$' THEN
        rest := '?';
    END IF;
    WHILE rest <> '' LOOP
        step := regexp_match(rest, '^(?:\.([[:alpha:]_][[:alnum:]_$]*)|\."((?:[^"\\]|\\.)*)"|\[\s*(\d+)\s*\])');
        IF step IS NULL THEN
            RAISE EXCEPTION 'JSON path is not properly formatted. Unexpected character ''%'' is found at position %.',
                left(rest, 1), length(path) - length(rest)
                USING ERRCODE = 'MSSQL', DETAIL = '13607,16,4';
        END IF;
        rest := substr(rest, length(substring(rest
            FROM '^(?:\.[[:alpha:]_][[:alnum:]_$]*|\."(?:[^"\\]|\\.)*"|\[\s*\d+\s*\])')) + 1);
        steps := steps || CASE
            WHEN step[3] IS NOT NULL THEN '[' || step[3]
            WHEN step[2] IS NOT NULL THEN '.' || (('"' || step[2] || '"')::json #>> '{}')
            ELSE '.' || step[1] END;
    END LOOP;
    RETURN steps;
END $$;

-- What a path leads to, or NULL. As in SQL Server the first of two members of one name counts,
-- and the text keeps its spaces and order.
CREATE FUNCTION mssql.json_at(document text, path text) RETURNS json LANGUAGE plpgsql IMMUTABLE
    STRICT PARALLEL SAFE AS $$
DECLARE
    place json := document::json;
    step text;
BEGIN
    FOREACH step IN ARRAY mssql.json_steps(path) LOOP
        IF step LIKE '.%' AND json_typeof(place) = 'object' THEN
            place := (SELECT m.value FROM json_each(place) WITH ORDINALITY AS m (key, value, n)
                WHERE m.key = substr(step, 2) ORDER BY m.n LIMIT 1);
        ELSIF step LIKE '[%' AND json_typeof(place) = 'array' THEN
            place := place -> substr(step, 2)::integer;
        ELSE
            place := NULL;
        END IF;
        IF place IS NULL THEN
            IF path ~* '^\s*strict' THEN
                RAISE EXCEPTION 'Property cannot be found on the specified JSON path.'
                    USING ERRCODE = 'MSSQL', DETAIL = '13608,16,5';
            END IF;
            RETURN NULL;
        END IF;
    END LOOP;
    RETURN place;
END $$;
CREATE FUNCTION mssql.json_value(document text, path text) RETURNS mssql.nvarchar LANGUAGE plpgsql
    IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    found json := mssql.json_at(document, path);
    scalar boolean := json_typeof(found) NOT IN ('object', 'array');
BEGIN
    IF NOT scalar AND path ~* '^\s*strict' THEN
        RAISE EXCEPTION 'Scalar value cannot be found in the specified JSON path.'
            USING ERRCODE = 'MSSQL', DETAIL = '13623,16,2';
    END IF;
    RETURN CASE WHEN scalar AND length(found #>> '{}') <= 4000 THEN found #>> '{}' END;
END $$;
CREATE FUNCTION mssql.json_query(document text, path text DEFAULT '$') RETURNS mssql.nvarchar
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    found json := mssql.json_at(document, path);
    composed boolean := json_typeof(found) IN ('object', 'array');
BEGIN
    IF NOT composed AND path ~* '^\s*strict' THEN
        RAISE EXCEPTION 'Object or array cannot be found in the specified JSON path.'
            USING ERRCODE = 'MSSQL', DETAIL = '13624,16,2';
    END IF;
    RETURN CASE WHEN composed THEN btrim(found::text, E' \t\r\n') END;
END $$;
CREATE FUNCTION mssql.json_path_exists(document text, path text) RETURNS integer LANGUAGE plpgsql
    IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF NOT pg_input_is_valid(document, 'json') THEN
        RETURN 0;
    END IF;
    RETURN (mssql.json_at(document, regexp_replace(path, '^\s*strict', 'lax', 'i')) IS NOT NULL)::integer;
END $$;
