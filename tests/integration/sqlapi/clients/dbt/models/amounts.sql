SELECT c.name AS category, sum(p.amount) AS amount, count(*) AS sales
FROM {{ ref('priced') }} p
JOIN {{ source('tickit', 'category') }} c ON c.id = p.categoryid
GROUP BY 1
