-- What buyers like: for each thing, how many of those who ever bought.
SELECT
    count_if(likesports) AS sports,
    count_if(liketheatre) AS theatre,
    count_if(likeconcerts) AS concerts,
    count_if(likejazz) AS jazz,
    count_if(likeclassical) AS classical,
    count_if(likeopera) AS opera,
    count_if(likerock) AS rock,
    count_if(likevegas) AS vegas,
    count_if(likebroadway) AS broadway,
    count_if(likemusicals) AS musicals
FROM refined_tickit_public_users
WHERE userid IN (SELECT buyerid FROM refined_tickit_public_sales)
