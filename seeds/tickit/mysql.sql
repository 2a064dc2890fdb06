-- TICKIT's e-commerce platform: MySQL, database ecomm.
-- Safe to run again. No foreign keys: tables are loaded and changed in any order.

CREATE DATABASE IF NOT EXISTS ecomm CHARACTER SET utf8mb4;

CREATE TABLE IF NOT EXISTS ecomm.`date` (
    dateid  smallint NOT NULL PRIMARY KEY,
    caldate date     NOT NULL,
    `day`   char(3)  NOT NULL,
    week    smallint NOT NULL,
    `month` char(5)  NOT NULL,
    qtr     char(5)  NOT NULL,
    `year`  smallint NOT NULL,
    holiday boolean  DEFAULT false
) CHARACTER SET utf8mb4;

CREATE TABLE IF NOT EXISTS ecomm.listing (
    listid         integer  NOT NULL PRIMARY KEY,
    sellerid       integer  NOT NULL,
    eventid        integer  NOT NULL,
    dateid         smallint NOT NULL,
    numtickets     smallint NOT NULL,
    priceperticket decimal(8,2),
    totalprice     decimal(8,2),
    listtime       datetime(6)
) CHARACTER SET utf8mb4;

CREATE TABLE IF NOT EXISTS ecomm.sale (
    salesid    integer  NOT NULL PRIMARY KEY,
    listid     integer  NOT NULL,
    sellerid   integer  NOT NULL,
    buyerid    integer  NOT NULL,
    eventid    integer  NOT NULL,
    dateid     smallint NOT NULL,
    qtysold    smallint NOT NULL,
    pricepaid  decimal(8,2),
    commission decimal(8,2),
    saletime   datetime(6)
) CHARACTER SET utf8mb4;
