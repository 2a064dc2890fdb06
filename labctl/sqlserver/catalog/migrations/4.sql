-- The cleanup job had set the start of instances to a commit, where a connector may stand that has
-- seen no change since. No change of that transaction was removed.
UPDATE mssql.cdc_tables SET start_lsn = (substr(start_lsn::bytea, 1, 6) || '\x00000000'::bytea)::mssql.binary(10)
    WHERE substr(start_lsn::bytea, 7) = '\xFFFFFFFE'::bytea;
