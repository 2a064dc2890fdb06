-- TICKIT's event management system: PostgreSQL, database tickit, schema ems.
-- Safe to run again. No foreign keys: tables are loaded and changed in any order.

CREATE SCHEMA IF NOT EXISTS ems;

CREATE TABLE IF NOT EXISTS ems.category (
    catid    smallint    NOT NULL PRIMARY KEY,
    catgroup varchar(10),
    catname  varchar(10),
    catdesc  varchar(50)
);

CREATE TABLE IF NOT EXISTS ems.venue (
    venueid    smallint     NOT NULL PRIMARY KEY,
    venuename  varchar(100),
    venuecity  varchar(30),
    venuestate char(2),
    venueseats integer
);

CREATE TABLE IF NOT EXISTS ems.event (
    eventid   integer      NOT NULL PRIMARY KEY,
    venueid   smallint     NOT NULL,
    catid     smallint     NOT NULL,
    dateid    smallint     NOT NULL,
    eventname varchar(200),
    starttime timestamp
);

-- A delete event then carries the whole row that went away, and an update the row before it.
ALTER TABLE ems.category REPLICA IDENTITY FULL;
ALTER TABLE ems.venue REPLICA IDENTITY FULL;
ALTER TABLE ems.event REPLICA IDENTITY FULL;

-- Made here, by the tables' owner, so that the connector's user need not own tables: the
-- connector runs with publication.autocreate.mode=disabled. A further table to be captured is
-- added with ALTER PUBLICATION tickit_debezium ADD TABLE.
DO $$
DECLARE
    captured regclass;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = 'tickit_debezium') THEN
        CREATE PUBLICATION tickit_debezium;
    END IF;
    FOREACH captured IN ARRAY ARRAY['ems.category', 'ems.venue', 'ems.event']::regclass[] LOOP
        IF NOT EXISTS (
            SELECT FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
            WHERE p.pubname = 'tickit_debezium' AND r.prrelid = captured
        ) THEN
            EXECUTE format('ALTER PUBLICATION tickit_debezium ADD TABLE %s', captured);
        END IF;
    END LOOP;
END
$$;
