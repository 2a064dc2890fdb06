select timestamp '2024-07-03 04:05:06 Europe/Berlin'
select timestamp '2024-01-03 04:05:06.123 America/New_York'
select timestamp '2024-07-03 04:05:06.123456 Asia/Kolkata'
select timestamp '2024-07-03 04:05:06 Europe/Berlin' at time zone 'UTC'
select timestamp '2024-07-03 04:05:06 Europe/Berlin' at time zone 'Asia/Tokyo'
select to_unixtime(timestamp '2024-07-03 04:05:06 Europe/Berlin')
select cast(timestamp '2024-07-03 04:05:06 Europe/Berlin' as varchar)
select cast(timestamp '2024-07-03 04:05:06 Europe/Berlin' as date)
select hour(timestamp '2024-07-03 04:05:06 Europe/Berlin'), timezone_hour(timestamp '2024-07-03 04:05:06 Europe/Berlin')
select typeof(timestamp '2024-07-03 04:05:06.12 Europe/Berlin')
select timestamp '2024-07-03 04:05:06 Nowhere/City'
select timestamp '2024-03-31 02:30:00 Europe/Berlin'
select timestamp '2024-10-27 02:30:00 Europe/Berlin'
select cast('2024-03-05 10:00:00 Europe/Berlin' as timestamp with time zone)
select cast('2024-03-05 10:00:00 UTC' as timestamp with time zone)
select timestamp '2024-07-03 04:05:06 Europe/Berlin' = timestamp '2024-07-03 02:05:06 UTC'
select timestamp '2024-13-03 04:05:06 Europe/Berlin'
select timestamp '1900-01-01 00:00:00 Europe/Berlin'
select timestamp '2024-07-03 Europe/Berlin'
