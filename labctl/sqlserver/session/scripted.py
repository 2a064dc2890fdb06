"""System procedures that are written in T-SQL because they return several result sets."""

from __future__ import annotations

__all__ = ["SCRIPTED"]

SCRIPTED = {
    "sp_help": """
CREATE PROCEDURE sp_help @objname nvarchar(776) = NULL AS
IF @objname IS NULL
BEGIN
    SELECT o.name AS Name, 'dbo' AS Owner, LOWER(REPLACE(o.type_desc, '_', ' ')) AS Object_type
    FROM sys.all_objects o WHERE o.is_ms_shipped = 0 ORDER BY o.type_desc, o.name
    RETURN 0
END
DECLARE @id int = OBJECT_ID(@objname), @database nvarchar(128) = DB_NAME()
IF @id IS NULL
BEGIN
    RAISERROR(15009, 16, 1, @objname, @database)
    RETURN 1
END
SELECT o.name AS Name, 'dbo' AS Owner, LOWER(REPLACE(o.type_desc, '_', ' ')) AS Type,
    o.create_date AS Created_datetime
FROM sys.all_objects o WHERE o.object_id = @id
IF NOT EXISTS (SELECT 1 FROM sys.all_columns WHERE object_id = @id) RETURN 0
SELECT c.name AS Column_name, TYPE_NAME(c.user_type_id) AS Type, 'no' AS Computed,
    c.max_length AS Length, c.precision AS Prec, c.scale AS Scale,
    CASE WHEN c.is_nullable = 1 THEN 'yes' ELSE 'no' END AS Nullable,
    c.collation_name AS Collation
FROM sys.all_columns c WHERE c.object_id = @id ORDER BY c.column_id
SELECT i.name AS [Identity], i.seed_value AS Seed, i.increment_value AS Increment,
    i.is_not_for_replication AS [Not For Replication]
FROM sys.identity_columns i WHERE i.object_id = @id
SELECT i.name AS index_name,
    LOWER(i.type_desc) + CASE WHEN i.is_unique = 1 THEN ', unique' ELSE '' END
        + CASE WHEN i.is_primary_key = 1 THEN ', primary key' ELSE '' END AS index_description,
    (SELECT STRING_AGG(COL_NAME(k.object_id, k.column_id), ', ')
            WITHIN GROUP (ORDER BY k.key_ordinal)
        FROM sys.index_columns k
        WHERE k.object_id = i.object_id AND k.index_id = i.index_id AND k.is_included_column = 0)
        AS index_keys
FROM sys.indexes i WHERE i.object_id = @id ORDER BY i.name
SELECT LOWER(REPLACE(o.type_desc, '_', ' ')) AS constraint_type, o.name AS constraint_name,
    COALESCE(d.definition, c.definition) AS constraint_keys
FROM sys.all_objects o
LEFT JOIN sys.default_constraints d ON d.object_id = o.object_id
LEFT JOIN sys.check_constraints c ON c.object_id = o.object_id
WHERE o.parent_object_id = @id ORDER BY o.type_desc, o.name
SELECT OBJECT_NAME(f.parent_object_id) + ': ' + f.name AS [Table is referenced by foreign key]
FROM sys.foreign_keys f WHERE f.referenced_object_id = @id ORDER BY f.name
""",
    "sp_who": """
CREATE PROCEDURE sp_who @loginame nvarchar(128) = NULL AS
SELECT s.session_id AS spid, CAST(0 AS smallint) AS ecid, s.status, s.login_name AS loginame,
    s.host_name AS hostname, CAST('0' AS char(5)) AS blk, s.database_name AS dbname,
    CAST('AWAITING COMMAND' AS nchar(16)) AS cmd, 0 AS request_id
FROM sys.dm_exec_sessions s
WHERE @loginame IS NULL OR @loginame = s.login_name
    OR @loginame = CAST(s.session_id AS nvarchar(10))
    OR (@loginame = 'ACTIVE' AND s.status = 'running')
ORDER BY s.session_id
""",
}
"""CREATE PROCEDURE statements by procedure name."""
