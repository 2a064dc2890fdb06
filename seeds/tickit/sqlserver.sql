-- TICKIT's customer relationship management: SQL Server, database tickit, schema crm.
-- Batches end with GO, as in sqlcmd. Safe to run again.

IF DB_ID(N'tickit') IS NULL
    CREATE DATABASE tickit;
GO

USE tickit;
GO

IF SCHEMA_ID(N'crm') IS NULL
    EXEC (N'CREATE SCHEMA crm');
GO

IF OBJECT_ID(N'crm.[user]', N'U') IS NULL
    CREATE TABLE crm.[user] (
        userid        integer      NOT NULL PRIMARY KEY,
        username      char(8)      NULL,
        firstname     nvarchar(30) NULL,
        lastname      nvarchar(30) NULL,
        city          nvarchar(30) NULL,
        state         char(2)      NULL,
        email         varchar(100) NULL,
        phone         char(14)     NULL,
        likesports    bit          NULL,
        liketheatre   bit          NULL,
        likeconcerts  bit          NULL,
        likejazz      bit          NULL,
        likeclassical bit          NULL,
        likeopera     bit          NULL,
        likerock      bit          NULL,
        likevegas     bit          NULL,
        likebroadway  bit          NULL,
        likemusicals  bit          NULL
    );
GO

-- Change tables get a filegroup of their own, so that capturing never competes with the data
-- for the primary one. The file goes where the server keeps its data files.
IF NOT EXISTS (SELECT 1 FROM sys.filegroups WHERE name = N'cdc')
    ALTER DATABASE tickit ADD FILEGROUP cdc;
GO

IF NOT EXISTS (SELECT 1 FROM sys.database_files WHERE name = N'tickit_cdc')
BEGIN
    DECLARE @folder nvarchar(260) =
        CONVERT(nvarchar(260), SERVERPROPERTY('InstanceDefaultDataPath'));
    DECLARE @statement nvarchar(max) =
        N'ALTER DATABASE tickit ADD FILE (NAME = N''tickit_cdc'', FILENAME = N'''
        + @folder + N'tickit_cdc.ndf'') TO FILEGROUP cdc';
    EXEC (@statement);
END;
GO
