select x, sum(x) over (order by x range between 1 preceding and current row) from (values 1, 2, 4) as t(x) order by x
select d, sum(x) over (order by d range between interval '2' day preceding and current row) from (values (date '2024-01-01', 1), (date '2024-01-02', 2), (date '2024-01-05', 4)) as t(d, x) order by d
select d, sum(x) over (order by d range between interval '1' month preceding and current row) from (values (date '2024-01-01', 1), (date '2024-02-01', 2), (date '2024-03-05', 4)) as t(d, x) order by d
select d, count(*) over (order by d range between interval '1' day preceding and interval '1' day following) from (values date '2024-01-01', date '2024-01-02', date '2024-01-05') as t(d) order by d
select d, count(*) over (order by d range interval '1' hour preceding) from (values timestamp '2024-01-01 00:00:00', timestamp '2024-01-01 00:30:00', timestamp '2024-01-01 02:00:00') as t(d) order by d
select d, avg(x) over (order by d range between interval '7' day preceding and interval '1' day preceding) from (values (date '2024-01-01', 1), (date '2024-01-02', 2), (date '2024-01-05', 4)) as t(d, x) order by d
select d, sum(x) over (order by d desc range between interval '2' day preceding and current row) from (values (date '2024-01-01', 1), (date '2024-01-02', 2), (date '2024-01-05', 4)) as t(d, x) order by d
select d, sum(x) over (order by d range between interval '-1' day preceding and current row) from (values (date '2024-01-01', 1)) as t(d, x) order by d
select d, sum(x) over (order by d range between interval '1' hour preceding and current row) from (values (date '2024-01-01', 1)) as t(d, x) order by d
select k, d, sum(x) over (partition by k order by d range between interval '1' day preceding and current row) from (values ('a', date '2024-01-01', 1), ('a', date '2024-01-02', 2), ('b', date '2024-01-02', 4)) as t(k, d, x) order by k, d
select d, sum(x) over (order by d range between interval '1' year preceding and current row) from (values (date '2023-02-28', 1), (date '2024-02-29', 2)) as t(d, x) order by d
select d, sum(x) over (order by d range between unbounded preceding and interval '1' day preceding) from (values (date '2024-01-01', 1), (date '2024-01-02', 2), (date '2024-01-03', 4)) as t(d, x) order by d
select x, sum(x) over w from (values 1, 2, 4) as t(x) window w as (order by x) order by x
select x, sum(x) over w, count(*) over w from (values 1, 2, 4) as t(x) window w as (order by x rows 1 preceding) order by x
select x, sum(x) over (w rows 1 preceding) from (values 1, 2, 4) as t(x) window w as (order by x) order by x
select x, rank() over w, row_number() over w from (values 1, 1, 2) as t(x) window w as (order by x) order by x, 3
select 1 = all (values 1, 1)
select 2 > all (values 0, 1)
select 1 <> all (values 0, null)
select 1 = some (values 1, 2)
select 3 < any (values 1, 2)
select 1 = any (select x from (values 1, 2) as t(x))
select 1 < all (select x from (values 1, 2) as t(x))
select null = any (values 1)
select 1 = all (select 1 where false)
select 1 = any (select 1 where false)
select array[1, 2] >= array[1, 2], array[1] <= array[1, 0], array['a', 'b'] > array['a']
select array[1, null] < array[2]
select cast(null as array(integer)) < array[1]
select format('%x', -1), format('%x', cast(-1 as bigint))
select format('%.2f', nan()), format('%.2f', infinity())
select format('%.2f', -0.001e0), format('%.0f', 1e20), format('%f', 1e0/3), format('%.1f', 0.05e0), format('%.2f', 1.005e0)
select format('%,.1f', -1234567.25e0), format('%.20f', 0.1e0)
