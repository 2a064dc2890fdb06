-- The MoMA collection: PostgreSQL, database moma, schema public.
-- Safe to run again. No foreign keys: tables are loaded and changed in any order.

CREATE TABLE IF NOT EXISTS public.artists (
    artist_id   integer NOT NULL PRIMARY KEY,
    name        text,
    nationality text,
    gender      text,
    birth_year  integer,
    death_year  integer
);

CREATE TABLE IF NOT EXISTS public.artworks (
    artwork_id       integer NOT NULL PRIMARY KEY,
    title            text,
    artist_id        integer NOT NULL,
    name             text,
    date             integer,
    medium           text,
    dimensions       text,
    acquisition_date text,
    credit           text,
    catalogue        text,
    department       text,
    classification   text,
    object_number    text,
    diameter_cm      text,
    circumference_cm text,
    height_cm        text,
    length_cm        text,
    width_cm         text,
    depth_cm         text,
    weight_kg        text,
    durations        integer
);
