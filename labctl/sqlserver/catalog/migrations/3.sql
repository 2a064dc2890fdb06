-- DEFAULT constraints get names, views their translated definition; extended properties are kept.
ALTER TABLE mssql.defaults ADD COLUMN name mssql.nvarchar(128), ADD COLUMN system_named boolean;
DELETE FROM mssql.defaults d WHERE d.definition IS NULL OR NOT EXISTS (SELECT FROM pg_attribute a
    WHERE a.attrelid = d.relid AND a.attnum = d.attnum AND NOT a.attisdropped);
UPDATE mssql.defaults d SET system_named = true,
    name = ('DF__' || left(c.relname, 9) || '__' || left(a.attname, 5) || '__'
        || upper(left(md5(d.relid || '.' || d.attnum), 8)))::mssql.nvarchar
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.oid = d.relid AND a.attnum = d.attnum;
ALTER TABLE mssql.defaults ALTER COLUMN name SET NOT NULL, ALTER COLUMN system_named SET NOT NULL,
    ALTER COLUMN definition SET NOT NULL;
CREATE TABLE mssql.extended_properties (
    relid oid,
    attnum smallint,
    name mssql.nvarchar(128),
    value mssql.nvarchar,
    PRIMARY KEY (relid, attnum, name)
);
ALTER TABLE mssql.modules ADD COLUMN translated text;
UPDATE mssql.modules m SET translated = format('CREATE VIEW %I.%I AS %s', n.nspname, c.relname, pg_get_viewdef(c.oid))
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE m.type = 'V' AND c.relkind = 'v' AND c.relname = lower(m.name::text)::name
    AND n.nspname = m.db || '.' || m.schema_name;
