-- What was sold on each day, and the commission on it, by category.
SELECT
    dates.caldate,
    categories.catgroup,
    categories.catname,
    round(sum(sales.pricepaid * sales.qtysold), 2) AS saleamount,
    sum(sales.commission) AS commission
FROM tickit_demo.refined_tickit_public_sales AS sales
LEFT JOIN tickit_demo.refined_tickit_public_event AS events ON events.eventid = sales.eventid
LEFT JOIN tickit_demo.refined_tickit_public_date AS dates ON dates.dateid = sales.dateid
LEFT JOIN tickit_demo.refined_tickit_public_category AS categories
    ON categories.catid = events.catid
GROUP BY dates.caldate, categories.catgroup, categories.catname
