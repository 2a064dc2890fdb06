-- Its other name: some applications look for this one.
SELECT caldate, catgroup, catname, saleamount, commission
FROM tickit_gold.sales_by_day_and_category
