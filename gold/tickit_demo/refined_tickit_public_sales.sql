-- Silver's sale without the columns of Debezium and Hudi, and without rows deleted at the source:
-- on AWS those are still in the table.
SELECT
    salesid, listid, sellerid, buyerid, eventid, dateid, qtysold, pricepaid, commission,
    saletime
FROM tickit.sale
WHERE coalesce(__deleted, 'false') <> 'true'
