-- Silver's event without the columns of Debezium and Hudi, and without rows deleted at the source:
-- on AWS those are still in the table.
SELECT
    eventid, venueid, catid, dateid, eventname, starttime
FROM tickit.event
WHERE coalesce(__deleted, 'false') <> 'true'
