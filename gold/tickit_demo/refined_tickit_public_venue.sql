-- Silver's venue without the columns of Debezium and Hudi, and without rows deleted at the source:
-- on AWS those are still in the table.
SELECT
    venueid, venuename, venuecity, venuestate, venueseats
FROM tickit.venue
WHERE coalesce(__deleted, 'false') <> 'true'
