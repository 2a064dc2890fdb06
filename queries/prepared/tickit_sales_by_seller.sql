-- The sales of one seller, whose number is the value.
SELECT
    dates.caldate,
    sales.pricepaid,
    sales.qtysold,
    round(sales.pricepaid * sales.qtysold, 2) AS saleamount,
    sales.commission,
    round(sales.commission * 100 / nullif(sales.pricepaid * sales.qtysold, 0), 2) AS commissionprcnt,
    events.eventname,
    concat(sellers.firstname, ' ', sellers.lastname) AS seller,
    concat(buyers.firstname, ' ', buyers.lastname) AS buyer,
    categories.catgroup,
    categories.catname
FROM tickit_demo.refined_tickit_public_sales AS sales
LEFT JOIN tickit_demo.refined_tickit_public_event AS events ON events.eventid = sales.eventid
LEFT JOIN tickit_demo.refined_tickit_public_date AS dates ON dates.dateid = sales.dateid
LEFT JOIN tickit_demo.refined_tickit_public_category AS categories
    ON categories.catid = events.catid
LEFT JOIN tickit_demo.refined_tickit_public_users AS sellers ON sellers.userid = sales.sellerid
LEFT JOIN tickit_demo.refined_tickit_public_users AS buyers ON buyers.userid = sales.buyerid
WHERE sales.sellerid = ?
ORDER BY dates.caldate, events.eventname, sales.salesid
