-- Silver's listing without the columns of Debezium and Hudi, and without rows deleted at the source:
-- on AWS those are still in the table.
SELECT
    listid, sellerid, eventid, dateid, numtickets, priceperticket, totalprice, listtime
FROM tickit.listing
WHERE coalesce(__deleted, 'false') <> 'true'
