-- What ALTER and DROP do beyond PostgreSQL: DEFAULT constraints have names, and a view outlives
-- what it reads.

CREATE FUNCTION mssql.set_default(target regclass, column_name text, constraint_name text,
    definition text, system_named boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    number smallint := (SELECT a.attnum FROM pg_attribute a
        WHERE a.attrelid = target AND a.attname = column_name AND NOT a.attisdropped);
    home oid := (SELECT c.relnamespace FROM pg_class c WHERE c.oid = target);
BEGIN
    IF EXISTS (SELECT FROM mssql.defaults d WHERE d.relid = target AND d.attnum = number) THEN
        RAISE EXCEPTION 'Column already has a DEFAULT bound to it.'
            USING ERRCODE = 'MSSQL', DETAIL = '1781,16,1';
    END IF;
    IF EXISTS (SELECT FROM mssql.defaults d JOIN pg_class c ON c.oid = d.relid
            WHERE c.relnamespace = home AND lower(d.name::text) = lower(constraint_name))
        OR EXISTS (SELECT FROM pg_constraint c
            WHERE c.connamespace = home AND c.conname = lower(constraint_name)) THEN
        RAISE EXCEPTION 'There is already an object named ''%'' in the database.', constraint_name
            USING ERRCODE = 'MSSQL', DETAIL = '2714,16,5';
    END IF;
    INSERT INTO mssql.defaults VALUES (target, number, definition, constraint_name, system_named);
END $$;

CREATE FUNCTION mssql.drop_constraint(target regclass, constraint_name text, optional boolean)
    RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    number smallint;
BEGIN
    DELETE FROM mssql.defaults d WHERE d.relid = target AND lower(d.name::text) = lower(constraint_name)
        RETURNING d.attnum INTO number;
    IF number IS NOT NULL THEN
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', target,
            (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = target AND a.attnum = number));
    ELSIF EXISTS (SELECT FROM pg_constraint c
            WHERE c.conrelid = target AND c.conname = lower(constraint_name)::name) THEN
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', target, lower(constraint_name)::name);
    ELSIF NOT optional THEN
        RAISE EXCEPTION '''%'' is not a constraint.', constraint_name
            USING ERRCODE = 'MSSQL', DETAIL = '3728,16,1';
    END IF;
END $$;

-- A column goes only once its DEFAULT constraint is gone; its comment and definition go with it.
CREATE FUNCTION mssql.drop_column(target regclass, column_name text, optional boolean)
    RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    number smallint := (SELECT a.attnum FROM pg_attribute a WHERE a.attrelid = target
        AND a.attname = lower(column_name)::name AND a.attnum > 0 AND NOT a.attisdropped);
    bound text := (SELECT d.name FROM mssql.defaults d
        WHERE d.relid = target AND d.attnum = number);
BEGIN
    IF bound IS NOT NULL THEN
        RAISE EXCEPTION 'ALTER TABLE DROP COLUMN % failed: the object ''%'' is dependent on column ''%''.', column_name, bound, column_name
            USING ERRCODE = 'MSSQL', DETAIL = '5074,16,1';
    END IF;
    IF number IS NULL AND NOT optional THEN
        RAISE EXCEPTION 'ALTER TABLE DROP COLUMN failed because column ''%'' does not exist in table ''%''.', column_name, target
            USING ERRCODE = 'MSSQL', DETAIL = '4924,16,1';
    END IF;
    IF number IS NOT NULL THEN
        DELETE FROM mssql.extended_properties p WHERE p.relid = target AND p.attnum = number;
        EXECUTE format('ALTER TABLE %s DROP COLUMN %I', target, lower(column_name)::name);
    END IF;
END $$;

-- SQL Server binds a view by name each time it is used. Here the views over a relation are taken
-- away before it goes or changes, and put back as soon as what they read is there again.
CREATE FUNCTION mssql.detach_views(target regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found regclass;
BEGIN
    FOR found IN SELECT DISTINCT r.ev_class::regclass FROM pg_depend d
        JOIN pg_rewrite r ON r.oid = d.objid JOIN mssql.views v ON v.relid = r.ev_class
        WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
            AND d.refobjid = target AND r.ev_class <> target
    LOOP
        PERFORM mssql.detach_views(found);
        EXECUTE format('DROP VIEW %s', found);
    END LOOP;
END $$;
CREATE FUNCTION mssql.attach_views(db_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    missing text;
    attached boolean := true;
BEGIN
    WHILE attached LOOP
        attached := false;
        FOR missing IN SELECT m.translated FROM mssql.modules m
            WHERE m.db = lower(db_name) AND m.type = 'V' AND NOT EXISTS (SELECT FROM mssql.views v
                WHERE v.object_id = m.object_id)
        LOOP
            BEGIN
                EXECUTE missing;
                attached := true;
            EXCEPTION WHEN undefined_table OR undefined_column OR undefined_function
                OR datatype_mismatch OR invalid_schema_name OR duplicate_table THEN
                NULL;
            END;
        END LOOP;
    END LOOP;
END $$;

-- Extended properties of schemas, tables and columns: where clients keep comments.
CREATE FUNCTION mssql.property_place(db_name text, level0type text, level0name text,
    level1type text, level1name text, level2type text, level2name text,
    OUT relid oid, OUT attnum smallint) LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF upper(coalesce(level0type, 'SCHEMA')) <> 'SCHEMA' OR level1name IS NULL
        OR upper(level1type) NOT IN ('TABLE', 'VIEW') OR upper(coalesce(level2type, 'COLUMN')) <> 'COLUMN' THEN
        RAISE EXCEPTION 'An extended property of anything but a table, a view or a column is not supported by this SQL Server stand-in.'
            USING ERRCODE = 'MSSQL', DETAIL = '40517,16,1';
    END IF;
    relid := to_regclass(format('%I.%I', mssql.schema_of(db_name, level0name), lower(level1name)));
    attnum := CASE WHEN level2name IS NULL THEN 0 ELSE (SELECT a.attnum FROM pg_attribute a
        WHERE a.attrelid = relid AND a.attname = lower(level2name)) END;
    IF relid IS NULL OR attnum IS NULL THEN
        RAISE EXCEPTION 'Object is invalid. Extended properties are not permitted on ''%.%'', or the object does not exist.',
            level0name, concat_ws('.', level1name, level2name)
            USING ERRCODE = 'MSSQL', DETAIL = '15135,16,8';
    END IF;
END $$;
CREATE FUNCTION mssql.sp_addextendedproperty(db_name text, name text, value text, level0type text,
    level0name text, level1type text, level1name text, level2type text, level2name text)
    RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place record := mssql.property_place(db_name, level0type, level0name, level1type, level1name, level2type, level2name);
BEGIN
    INSERT INTO mssql.extended_properties VALUES (place.relid, place.attnum, $2, $3);
EXCEPTION WHEN unique_violation THEN
    RAISE EXCEPTION 'Property cannot be added. Property ''%'' already exists for ''%''.', name,
        concat_ws('.', level0name, level1name, level2name)
        USING ERRCODE = 'MSSQL', DETAIL = '15233,16,1';
END $$;
CREATE FUNCTION mssql.missing_property(name text, VARIADIC place text[]) RETURNS void
    LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'Property cannot be updated or deleted. Property ''%'' does not exist for ''%''.', name,
        array_to_string(place, '.') USING ERRCODE = 'MSSQL', DETAIL = '15217,16,1';
END $$;
CREATE FUNCTION mssql.sp_updateextendedproperty(db_name text, name text, value text, level0type text,
    level0name text, level1type text, level1name text, level2type text, level2name text)
    RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place record := mssql.property_place(db_name, level0type, level0name, level1type, level1name, level2type, level2name);
BEGIN
    UPDATE mssql.extended_properties p SET value = $3
        WHERE p.relid = place.relid AND p.attnum = place.attnum AND p.name::text = $2;
    IF NOT FOUND THEN
        PERFORM mssql.missing_property(name, level0name, level1name, level2name);
    END IF;
END $$;
CREATE FUNCTION mssql.sp_dropextendedproperty(db_name text, name text, level0type text,
    level0name text, level1type text, level1name text, level2type text, level2name text)
    RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place record := mssql.property_place(db_name, level0type, level0name, level1type, level1name, level2type, level2name);
BEGIN
    DELETE FROM mssql.extended_properties p
        WHERE p.relid = place.relid AND p.attnum = place.attnum AND p.name::text = $2;
    IF NOT FOUND THEN
        PERFORM mssql.missing_property(name, level0name, level1name, level2name);
    END IF;
END $$;

-- What is remembered about a table goes with it.
CREATE FUNCTION mssql.forget_table(target regclass) RETURNS void LANGUAGE sql VOLATILE AS $$
    DELETE FROM mssql.defaults d WHERE d.relid = target;
    DELETE FROM mssql.extended_properties p WHERE p.relid = target;
$$;
