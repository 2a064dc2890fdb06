select date '2024-02-29' + interval '1' year
select date '2024-03-31' - interval '1' month
select timestamp '2024-01-31 23:30:00' + interval '1' hour
select timestamp '2024-01-31 10:00:00.5' + interval '1' month
select timestamp '2024-01-31 10:00:00' + interval '90' minute
select timestamp '2024-01-31 10:00:00' - interval '1' second
select interval '1' day + interval '2' hour
select interval '1' year - interval '2' month
select interval '3' day * 2
select 2 * interval '3' month
select - interval '1' day
select interval '1' week
select interval '36' hour
select interval '-5' minute
select interval '1' day > interval '23' hour
select interval '2-3' year to month
select interval '1 02:03:04' day to second
select interval '4' day / 2
select typeof(interval '2' day)
select typeof(date '2024-01-01' - date '2023-12-31')
select date '2024-01-01' - date '2023-12-31'
select timestamp '2024-03-05 12:00:00.123' - timestamp '2024-03-04 12:00:00'
select timestamp '2024-03-01 00:00:00' - timestamp '2024-03-04 12:00:00'
select cast(interval '1' day as varchar)
select date '2024-01-01' + interval '1' hour
select date '0001-01-01'
select date '9999-12-31' + interval '1' day
select date '2024-02-30'
select cast('2024-2-3' as date)
select cast(' 2024-02-03 ' as date)
select cast('2024-02-03 10:00:00' as date)
select try_cast('2024-13-01' as date)
select cast('2024-02-03' as timestamp)
select cast('2024-02-03 4:5:6' as timestamp)
select cast('2024-02-03 04:05' as timestamp)
select cast('2024-02-03 04:05:06.1234567' as timestamp)
select cast('2024-02-03 04:05:06.9996' as timestamp)
select cast('2024-02-03T04:05:06' as timestamp)
select cast(date '2024-02-03' as timestamp)
select cast(timestamp '2024-02-03 04:05:06.123456' as timestamp(3))
select cast(timestamp '2024-02-03 04:05:06.1235' as timestamp(3))
select cast(timestamp '1969-12-31 23:59:59.9995' as timestamp(3))
select cast(timestamp '2024-02-03 04:05:06' as timestamp(6))
select cast(timestamp '2024-02-03 04:05:06.1' as varchar)
select cast(timestamp '2024-02-03 04:05:06' as varchar)
select cast(cast(timestamp '2024-02-03 04:05:06' as timestamp(3)) as varchar)
select cast(timestamp '2024-02-03 04:05:06' as varchar(10))
select cast(date '2024-02-03' as varchar(4))
select typeof(timestamp '2024-02-03 04:05:06.12')
select typeof(current_date)
select typeof(timestamp '2024-02-03 04:05:06 UTC')
select timestamp '2024-02-03 04:05:06.123456789'
select timestamp '2024-02-03 04:05'
select timestamp '2024-02-03'
select timestamp '2024-02-03 25:00:00'
select timestamp '2024-07-03 04:05:06 Europe/Berlin'
select timestamp '2024-07-03 04:05:06 +02:00'
select timestamp '2024-07-03 04:05:06 UTC' at time zone 'Asia/Tokyo'
select timestamp '2024-07-03 04:05:06.123 UTC' at time zone 'America/Los_Angeles'
select timestamp '2024-07-03 04:05:06 UTC' at time zone '+05:30'
select timestamp '2024-07-03 04:05:06 UTC' at time zone 'Nowhere/City'
select cast(timestamp '2024-07-03 04:05:06 UTC' at time zone 'Asia/Tokyo' as date)
select cast(timestamp '2024-07-03 04:05:06 UTC' at time zone 'Asia/Tokyo' as timestamp)
select cast(timestamp '2024-07-03 22:05:06' as timestamp with time zone)
select hour(timestamp '2024-07-03 04:05:06 UTC' at time zone 'Asia/Tokyo')
select date_format(timestamp '2024-07-03 04:05:06 UTC' at time zone 'Asia/Tokyo', '%H:%i')
select timestamp '2024-07-03 04:05:06 UTC' at time zone 'Asia/Tokyo' = timestamp '2024-07-03 04:05:06 UTC'
select timestamp '2024-07-03 04:05:06 UTC' + interval '1' day
select with_timezone(timestamp '2024-07-03 04:05:06', 'UTC')
select with_timezone(timestamp '2024-07-03 04:05:06', 'Europe/Berlin')
select at_timezone(timestamp '2024-07-03 04:05:06 UTC', 'Europe/Berlin')
select timezone_hour(timestamp '2024-07-03 04:05:06 UTC' at time zone 'Asia/Tokyo')
select to_unixtime(timestamp '2024-07-03 04:05:06.5 UTC')
select to_unixtime(timestamp '2024-07-03 04:05:06')
select from_unixtime(1709647629.5)
select from_unixtime(-1)
select from_unixtime(0)
select from_unixtime(1709647629, 'Europe/Berlin')
select from_unixtime_nanos(1709647629000000000)
select from_iso8601_timestamp('2024-07-03T04:05:06Z')
select from_iso8601_timestamp('2024-07-03T04:05:06+02:00')
select from_iso8601_date('2024-7-3')
select from_iso8601_date('2024-185')
select from_iso8601_date('2024-W27-3')
select to_iso8601(date '2024-07-03')
select to_iso8601(timestamp '2024-07-03 04:05:06.12')
select to_iso8601(timestamp '2024-07-03 04:05:06 UTC')
select date_diff('second', timestamp '2024-01-01 00:00:00.9', timestamp '2024-01-01 00:00:02.1')
select date_diff('millisecond', timestamp '2024-01-01 00:00:00.900', timestamp '2024-01-01 00:00:02.100')
select date_diff('quarter', date '2024-01-31', date '2024-12-30')
select date_diff('year', date '2024-02-29', date '2025-02-28')
select date_diff('month', date '2024-02-29', date '2024-03-29')
select date_diff('month', date '2024-03-31', date '2024-02-29')
select date_diff('month', timestamp '2024-01-15 12:00:00', timestamp '2024-02-15 11:59:59')
select date_diff('day', date '2024-03-05', date '2024-02-27')
select date_diff('week', date '2024-01-14', date '2024-01-01')
select date_diff('hour', date '2024-01-01', date '2024-01-02')
select date_diff('day', timestamp '2024-01-01 00:00:00', date '2024-01-03')
select date_diff('fortnight', date '2024-01-01', date '2024-01-03')
select date_diff('minute', timestamp '2024-01-01 00:00:00 UTC', timestamp '2024-01-01 01:00:00 UTC')
select date_add('month', 1, timestamp '2024-01-31 10:00:00')
select date_add('quarter', 1, date '2024-11-30')
select date_add('year', -1, date '2024-02-29')
select date_add('week', 2, date '2024-02-29')
select date_add('hour', 25, timestamp '2024-02-28 10:00:00')
select date_add('millisecond', 1500, timestamp '2024-02-28 10:00:00')
select date_add('hour', 1, date '2024-02-28')
select date_trunc('quarter', date '2024-05-15')
select date_trunc('year', timestamp '2024-05-15 10:11:12.345')
select date_trunc('minute', timestamp '2024-05-15 10:11:12.345')
select date_trunc('second', timestamp '2024-05-15 10:11:12.345')
select date_trunc('week', timestamp '2024-05-15 10:11:12.345')
select date_trunc('day', timestamp '2024-05-15 10:11:12 UTC')
select date_trunc('hour', date '2024-05-15')
select date_trunc('MONTH', date '2024-05-15')
select date_trunc('day', timestamp '1969-12-31 10:00:00')
select typeof(date_trunc('month', date '2024-05-15'))
select extract(day from date '2024-05-15'), extract(month from date '2024-05-15'), extract(quarter from date '2024-05-15')
select extract(week from date '2021-01-03'), extract(yow from date '2021-01-03')
select extract(second from timestamp '2024-05-15 10:11:12.987')
select extract(hour from interval '26' hour)
select extract(day from interval '26' hour)
select extract(doy from date '2024-12-31')
select extract(year from interval '14' month)
select millisecond(timestamp '2024-05-15 10:11:12.987')
select day(timestamp '2024-05-15 23:59:59 UTC')
select year_of_week(date '2024-12-30')
select week_of_year(date '2024-12-30')
select day_of_month(date '2024-12-30'), day_of_week(timestamp '2024-12-30 10:00:00')
select minute(timestamp '2024-05-15 10:11:12'), second(timestamp '2024-05-15 10:11:12')
select last_day_of_month(timestamp '2023-02-10 10:00:00')
select date_format(timestamp '2024-03-05 04:07:09', '%h:%i %p')
select date_format(timestamp '2024-03-05 04:07:09', '%k %l %e %c %y')
select date_format(timestamp '2024-03-05 04:07:09', '%a %b %d %j %T')
select date_format(timestamp '2024-03-05 00:07:09', '%r')
select date_format(timestamp '2024-03-05 04:07:09', '%x-%v')
select date_format(timestamp '2024-03-05 04:07:09', 'at %H o''clock 100%%')
select date_format(timestamp '2024-03-05 04:07:09', '%D')
select date_format(timestamp '2024-03-05 04:07:09.987', '%s.%f')
select date_parse('2024-3-5', '%Y-%c-%e')
select date_parse('05/Mar/2024', '%d/%b/%Y')
select date_parse('24-03-05', '%y-%m-%d')
select date_parse('2024-03-05 02:07 PM', '%Y-%m-%d %h:%i %p')
select date_parse('2024-03-05 14:07:09.123', '%Y-%m-%d %H:%i:%s.%f')
select date_parse('2024-03-05x', '%Y-%m-%d')
select date_parse('2024-02-30', '%Y-%m-%d')
select date_parse('20240305', '%Y%m%d')
select date_parse('14:07', '%H:%i')
select format_datetime(timestamp '2024-03-05 14:07:09.123', 'yyyy-MM-dd''T''HH:mm:ss.SSS')
select format_datetime(timestamp '2024-03-05 14:07:09', 'yy M d H m s')
select format_datetime(timestamp '2024-03-05 14:07:09', 'EEEE MMMM')
select format_datetime(timestamp '2024-03-05 14:07:09', 'D')
select format_datetime(timestamp '2024-03-05 14:07:09', 'YYYY-ww')
select format_datetime(timestamp '2024-03-05 14:07:09 UTC', 'HH:mm Z')
select format_datetime(timestamp '2024-03-05 14:07:09', 'QQQ')
select parse_datetime('2024-03-05', 'yyyy-MM-dd')
select parse_datetime('05.03.2024 1:02', 'dd.MM.yyyy H:mm')
select parse_datetime('2024-03-05 14:07:09.120', 'yyyy-MM-dd HH:mm:ss.SSS')
select parse_duration('1.5h')
select parse_duration('42.0ms')
select human_readable_seconds(96)
select to_milliseconds(parse_duration('1d'))
select date '2024-03-05' < timestamp '2024-03-05 00:00:01'
select date '2024-03-05' between date '2024-03-01' and date '2024-03-31'
select timestamp '2024-03-05 00:00:00' = timestamp '2024-03-05 00:00:00.000'
select coalesce(cast(null as date), date '2024-03-05')
select greatest(date '2024-03-05', date '2023-01-01')
select least(timestamp '2024-03-05 10:00:00', timestamp '2024-03-05 09:00:00.5')
select max(d), min(d) from (values date '2024-03-05', date '2023-01-01') as t(d)
select date '2024-03-05' = '2024-03-05'
select timestamp '2024-03-05 10:00:00' > '2024-03-05'
select time '10:11:12'
select cast(timestamp '2024-03-05 10:11:12' as time)
select sequence(date '2024-01-31', date '2024-04-30', interval '1' month)
select sequence(timestamp '2024-01-01 00:00:00', timestamp '2024-01-01 03:00:00', interval '1' hour)
select sequence(date '2024-01-03', date '2024-01-01')
select sequence(date '2024-01-03', date '2024-01-01', interval '-1' day)
select array[date '2024-03-05', null]
select array[timestamp '2024-03-05 10:00:00']
select date_format(timestamp '2024-03-05 14:07:09.1239', '%f')
select date_diff('second', timestamp '2024-03-05 14:07:09.9996', timestamp '2024-03-05 14:07:11')
select date_diff('month', date '2024-01-30', date '2024-02-29'), date_diff('month', date '2024-02-29', date '2024-01-31')
select date_diff('month', timestamp '2024-01-31 12:00:00', timestamp '2024-02-29 11:00:00')
select date_diff('month', timestamp '2024-02-29 11:00:00', timestamp '2024-01-31 12:00:00')
select date_diff('year', date '2023-03-01', date '2024-02-29'), date_diff('quarter', date '2023-11-30', date '2024-02-29')
select date_diff('year', timestamp '2024-02-29 10:00:00', timestamp '2025-02-28 09:00:00')
select timestamp '2024-01-01 00:00:00' + parse_duration('1.5s')
select date '2024-03-31' + interval '-1' month, date_add('month', -1, date '2024-03-31')
