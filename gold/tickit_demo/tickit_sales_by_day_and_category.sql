-- The name by which applications read it.
SELECT caldate, catgroup, catname, saleamount, commission
FROM tickit_gold.sales_by_day_and_category
