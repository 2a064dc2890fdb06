-- Silver's category without the columns of Debezium and Hudi, and without rows deleted at the source:
-- on AWS those are still in the table.
SELECT
    catid, catgroup, catname, catdesc
FROM tickit.category
WHERE coalesce(__deleted, 'false') <> 'true'
