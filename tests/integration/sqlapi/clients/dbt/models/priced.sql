{{ config(materialized='view') }}
SELECT id, categoryid, price * qty AS amount
FROM {{ source('tickit', 'sale') }}
WHERE price IS NOT NULL
