-- Silver's date without the columns of Debezium and Hudi, and without rows deleted at the source:
-- on AWS those are still in the table.
SELECT
    dateid, caldate, day, week, month, qtr, year, holiday
FROM tickit."date"
WHERE coalesce(__deleted, 'false') <> 'true'
