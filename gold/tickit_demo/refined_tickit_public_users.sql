-- Silver's user without the columns of Debezium and Hudi, and without rows deleted at the source:
-- on AWS those are still in the table.
SELECT
    userid, username, firstname, lastname, city, state, email, phone, likesports, liketheatre,
    likeconcerts, likejazz, likeclassical, likeopera, likerock, likevegas, likebroadway,
    likemusicals
FROM tickit."user"
WHERE coalesce(__deleted, 'false') <> 'true'
