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
