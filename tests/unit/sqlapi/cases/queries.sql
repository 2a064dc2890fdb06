values 1, 2, 3
values (1, 'a'), (2, 'b')
values (1, null), (null, 2.5)
select * from (values (1, 'a'), (2, null)) as t
select * from (values 1, 2.5) as t(x)
select * from (values 1, 'a') as t(x)
select * from (values (1, 2), (3)) as t(x, y)
table nothing
select 1, 1 as a, 2 "B c", null
select x as y from (values 1) as t(x) where y = 1
select t.* from (values (1, 2)) as t(a, b)
select t.*, a + b as c from (values (1, 2)) as t(a, b)
select T.A from (values 1) as t(a)
select "t"."a" from (values 1) as T(A)
select a.b from (values 1) as t(a)
select nope from (values 1) as t(a)
select * from nowhere
select count(*) from (values 1, 2) as t(x) where x > 5
select count(*) where false
select 1 where null
select x from (values 1, null, 2) as t(x) where x <> 1
select x from (values 1, null, 2) as t(x) where not (x = 1)
select x from (values 1, null, 2) as t(x) where x is null or x > 1 order by x
select null and false, null or true, null and true, not null
select 1 = null, null = null, null <> 1, null is null, 1 is not null
select null in (1), 1 in (null, 1), 1 not in (2, null), null not in (1)
select x is not distinct from y from (values (1, 1), (null, null), (1, null)) as t(x, y)
select x, y from (values (1, null), (null, 1), (2, 2)) as t(x, y) order by x nulls first, y
select x from (values 1, null, 2) as t(x) order by x nulls first
select x from (values 1, null, 2) as t(x) order by x desc nulls last
select x from (values 1, null, 2) as t(x) order by x desc nulls first
select x from (values 1, null, 2) as t(x) order by -x
select x, y from (values (1, 'b'), (1, 'a'), (0, 'c')) as t(x, y) order by 1, 2 desc
select x as a, -x as b from (values 1, 2) as t(x) order by a + b, b
select x from (values 1, 2) as t(x) order by 2
select x from (values 3, 1, 2) as t(x) order by x limit 2
select x from (values 3, 1, 2) as t(x) order by x limit all
select x from (values 3, 1, 2) as t(x) order by x offset 1
select x from (values 3, 1, 2) as t(x) order by x offset 1 limit 1
select x from (values 3, 1, 1) as t(x) order by x fetch first 1 row with ties
select x from (values 3, 1) as t(x) order by x fetch next 1 rows only
select x from (values 3, 1) as t(x) order by x limit 0
select distinct x, y from (values (1, 'a'), (1, 'a'), (1, null), (1, null)) as t(x, y) order by x, y
select distinct x from (values 1, 2) as t(x) order by -x
select count(distinct x) from (values 1.0, 1.00, 2) as t(x)
select x, count(*) from (values 'a', 'b', 'a', null, null) as t(x) group by x order by x
select x, y, sum(z) from (values (1, 1, 10), (1, 2, 20), (2, 1, 30)) as t(x, y, z) group by x, y order by x, y
select x % 2 as p, count(*) from (values 1, 2, 3) as t(x) group by x % 2 order by p
select x % 2 as p, count(*) from (values 1, 2, 3) as t(x) group by 1 order by 1
select x as k, count(*) from (values 1, 2) as t(x) group by k
select x, count(*) from (values 1, 2) as t(x)
select x + y from (values (1, 2)) as t(x, y) group by x
select sum(x) from (values 1, 2) as t(x) having sum(x) > 5
select sum(x) from (values 1, 2) as t(x) having count(*) = 2
select x, sum(y) s from (values (1, 2), (1, 3), (2, 1)) as t(x, y) group by x having sum(y) > 1 order by s
select x from (values 1, 2) as t(x) group by x having s > 1
select sum(sum(x)) from (values 1) as t(x) group by x
select max(x) + min(x), max(x) - 1 from (values 1, 5) as t(x)
select a, b, sum(c) from (values (1, 'x', 10), (1, 'y', 20), (2, 'x', 30)) as t(a, b, c) group by grouping sets ((a, b), (a), ()) order by a, b
select a, b, sum(c) from (values (1, 'x', 10), (1, 'y', 20), (2, 'x', 30)) as t(a, b, c) group by rollup (a, b) order by a, b
select a, b, sum(c) from (values (1, 'x', 10), (1, 'y', 20), (2, 'x', 30)) as t(a, b, c) group by cube (a, b) order by a, b, 3
select a, b, grouping(a, b), count(*) from (values (1, 'x'), (1, 'y')) as t(a, b) group by rollup (a, b) order by 3, 2
select a, count(*) from (values 1, null) as t(a) group by rollup (a) order by a, 2
select a, b, count(*) from (values (1, 2)) as t(a, b) group by a, rollup (b) order by a, b
select a, b, count(*) from (values (1, 2)) as t(a, b) group by grouping sets (a, b) order by a, b
select a, count(*) from (values 1, 1) as t(a) group by grouping sets ((a), (a)) order by a
select count(*) from (values 1, 2) as t(a) group by ()
select count(*) from (values 1) as t(a) where a > 1 group by ()
select count(*) from (values 1) as t(a) where a > 1 group by a
select count(*) from (values 1) as t(a) where a > 1 group by grouping sets ((a), ())
select a, case when grouping(a) = 1 then 'all' else cast(a as varchar) end from (values 1, 2) as t(a) group by rollup (a) order by a
select count(*) filter (where x > 1), sum(x) filter (where x < 0) from (values 1, 2) as t(x)
select x, row_number() over (order by x), rank() over (order by x), dense_rank() over (order by x) from (values 1, 1, 2) as t(x) order by 1, 2
select x, percent_rank() over (order by x), cume_dist() over (order by x) from (values 1, 2, 2, 3) as t(x) order by x
select x, ntile(2) over (order by x) from (values 1, 2, 3) as t(x) order by x
select x, lag(x) over (order by x), lag(x, 2, 0) over (order by x), lead(x, 1, -1) over (order by x) from (values 1, 2, 3) as t(x) order by x
select x, lag(x, 0) over (order by x) from (values 1, 2) as t(x) order by x
select x, first_value(x) over (order by x desc), last_value(x) over (order by x) from (values 1, 2, 3) as t(x) order by x
select x, last_value(x) over (order by x rows between unbounded preceding and unbounded following) from (values 1, 2, 3) as t(x) order by x
select x, nth_value(x, 2) over (order by x) from (values 1, 2, 3) as t(x) order by x
select x, first_value(y) ignore nulls over (order by x) from (values (1, null), (2, 5), (3, 6)) as t(x, y) order by x
select x, lag(y) ignore nulls over (order by x) from (values (1, 4), (2, null), (3, 6)) as t(x, y) order by x
select x, sum(x) over (order by x rows 1 preceding), count(*) over () from (values 1, 2, 3) as t(x) order by x
select x, sum(x) over (order by x rows between 1 following and 2 following) from (values 1, 2, 3) as t(x) order by x
select x, sum(x) over (order by x range between unbounded preceding and current row) from (values 1, 1, 2) as t(x) order by x
select x, sum(x) over (order by x range between 1 preceding and 1 following) from (values 1, 2, 4) as t(x) order by x
select x, count(*) over (order by x groups between 1 preceding and current row) from (values 1, 1, 2, 3) as t(x) order by x
select k, v, sum(v) over (partition by k), sum(v) over (partition by k order by v) from (values ('a', 1), ('a', 2), ('b', 3)) as t(k, v) order by k, v
select k, max(v) over (partition by k) - v as d from (values ('a', 1), ('a', 2), ('b', 3)) as t(k, v) order by k, d
select x, rank() over (order by x nulls first) from (values 1, null, 2) as t(x) order by x
select x, rank() over (order by x) from (values 1, null, 2) as t(x) order by x
select x, avg(x) over (order by x), min(x) over (order by x desc) from (values 1, 2, 4) as t(x) order by x
select k, sum(count(*)) over (order by k), rank() over (order by count(*) desc) from (values 'a', 'b', 'a') as t(k) group by k order by k
select x from (select x, row_number() over (order by x) r from (values 5, 6, 7) as t(x)) where r = 2
select x, row_number() over () > 0 from (values 1) as t(x)
select x, sum(x) over w from (values 1, 2) as t(x) window w as (order by x) order by x
select x, array_agg(x) over (order by x) from (values 1, 2) as t(x) order by x
select x from (values 1) as t(x) where row_number() over () = 1
select row_number()
select 1 union all select 1
select 1 union select 2 order by 1 desc
select 1 as a union all select 2 as b order by a
select 1 union all select null order by 1
select 1 union select 'a'
select 1, 2 union select 1
select null union all select 1 union all select null order by 1 nulls first
select 1 union all select 2 union select 2 order by 1
(select 1 union all select 1) intersect select 1
select 1 union all (select 2 except select 2)
select x from (values 1, 1, 2) as t(x) except all select 1
select x from (values 1, 1, 2) as t(x) intersect all select x from (values 1, 1) as u(x)
select x from (values 1, null) as t(x) intersect select null
select x from (values 1, null) as t(x) except select 1
select 1 union all select 2 intersect select 2 order by 1
(select 3 x order by x limit 1) union all (select 1) order by 1
select * from (select 1 a union all select 2) t where a > 1
select 'a' union all select 'bcd' order by 1
select 1 union all select 1.5 union all select 2e0 order by 1
select date '2024-01-01' union all select timestamp '2024-01-01 10:00:00' order by 1
with a as (select 1 x), b as (select x + 1 x from a) select * from a union all select * from b order by 1
with a (p, q) as (values (1, 2)) select q, p from a
with a as (select 1 x) select * from (with a as (select 2 x) select * from a)
with recursive n(x) as (select 1 union all select x + 1 from n where x < 3) select * from n order by 1
with a as (select 1) select * from a a1, a a2
select * from (values 1, 2) as t(x) cross join (values 'a', 'b') as u(y) order by x, y
select * from (values 1, 2) as t(x), (values 3) as u(y) where x = 1
select * from (values 1, 2) as t(x) inner join (values 2, 3) as u(y) on x = y
select * from (values 1, 2) as t(x) right join (values 2, 3) as u(y) on x = y order by y
select * from (values 1, 2) as t(x) full outer join (values 2, 3) as u(y) on x = y order by x, y
select * from (values (1, 'a')) as t(k, v) join (values (1, 'b')) as u(k, w) using (k)
select k from (values 1) as t(k) left join (values 2) as u(k) using (k)
select t.k, u.k from (values 1) as t(k) left join (values 1) as u(k) on t.k = u.k
select * from (values 1) as t(k) natural join (values 1) as u(k)
select * from (values 1, null) as t(x) join (values 1, null) as u(y) on x = y
select * from (values 1, null) as t(x) join (values 1, null) as u(y) on x is not distinct from y order by x
select * from (values 1, 2) as t(x) left join (values 1) as u(y) on x = y and y > 1 order by x
select * from (values 1, 2) as t(x) join (values 1, 2) as u(y) on x < y
select * from (values 1) as t(x) join (values 1.0) as u(y) on x = y
select * from (values 1) as t(x) join (values '1') as u(y) on x = y
select * from (values 1) as a(x) left join (values 1) as b(y) on x = y left join (values 2) as c(z) on y = z
select * from ((values 1) as a(x) cross join (values 2) as b(y))
select * from (values 1, 2) as t(x) cross join lateral (select x * 10 as y) order by x
select * from (values 1, 2) as t(x) cross join lateral (select count(*) from (values 1, 2) as u(y) where y >= x) order by x
select x, e from (values (1, array['a', 'b']), (2, array[])) as t(x, a) cross join unnest(a) as u(e) order by x, e
select x, e from (values (1, array['a']), (2, null)) as t(x, a) left join unnest(a) as u(e) on true order by x
select e, o from unnest(array['a', null, 'c']) with ordinality as u(e, o) order by o
select a, b from unnest(array[1, 2, 3], array['x']) as u(a, b) order by a
select * from unnest(array[1, 2])
select * from unnest(array[row(1, 'a'), row(2, null)]) as u(n, s) order by n
select * from unnest(array[row(1, 'a'), null]) as u(n, s) order by n
select k, v, o from unnest(map(array['a', 'b'], array[1, 2])) with ordinality as u(k, v, o) order by o
select * from unnest(array[array[1, 2], array[3]]) as u(a) cross join unnest(a) as w(b) order by b
select sum(e) from unnest(sequence(1, 10)) as u(e)
select x, cardinality(a) from (values (1, array[1, 2])) as t(x, a) where contains(a, 2)
select unnest(array[1])
select * from unnest(1)
select x, (select count(*) from (values 1, 2, 3) as u(y) where y < x) from (values 1, 3) as t(x) order by x
select x from (values 1, 2) as t(x) where x = (select max(y) from (values 1, 2) as u(y))
select x, (select y from (values 5) as u(y) where y = x) from (values 1, 5) as t(x) order by x
select (select x from (values 1, 2) as t(x))
select (select 1, 2)
select x from (values 1, 2) as t(x) where exists (select 1 from (values 1) as u(y) where y = x)
select x from (values 1, 2) as t(x) where not exists (select 1 from (values 1) as u(y) where y = x)
select x from (values 1, 2, null) as t(x) where x in (select y from (values 1, null) as u(y))
select x from (values 1, 2, null) as t(x) where x not in (select y from (values 1, null) as u(y))
select x from (values 1, 2, null) as t(x) where x not in (select y from (values 1) as u(y))
select x from (values 1, 2) as t(x) where x not in (select y from (values 1) as u(y) where false) order by x
select x in (select y from (values 1, null) as u(y)) from (values 1, 2) as t(x) order by x
select x > all (select y from (values 1, 2) as u(y)), x >= any (select y from (values 1, 5) as u(y)), x = some (select 3) from (values 3) as t(x)
select x > all (select y from (values 1) as u(y) where false), x > any (select y from (values 1) as u(y) where false) from (values 3) as t(x)
select x > all (select y from (values 1, null) as u(y)) from (values 0, 3) as t(x) order by x
select x from (values (1, 2), (3, 4)) as t(x, y) where (x, y) in (select 1, 2)
select sum(x) from (values 1, 2, 3) as t(x) where x > (select avg(y) from (values 1, 2, 3) as u(y))
select x, (select sum(y) from (values (1, 10), (1, 20), (2, 30)) as u(k, y) where k = x) from (values 1, 2, 3) as t(x) order by x
select a.x, b.x from (select 1 x) a, (select 2 x) b
select case x when 1 then 'a' when 2 then 'b' end from (values 1, 2, 3) as t(x) order by x
select case when x > 1 then 'big' when x is null then 'none' else 'small' end from (values 1, 2, null) as t(x) order by x
select case null when null then 1 else 2 end
select if(x > 1, 'y', 'n'), if(null, 1, 2), iif(true, 1, 2) from (values 1) as t(x)
select nullif(x, 1), coalesce(x, 0) from (values 1, null, 2) as t(x)
select try(1 / x) from (values 0, 2) as t(x) order by 1
select 1 / x from (values 0, 2) as t(x)
select x from (values 1, 2, 3) as t(x) where x between 2 and 3 order by x
select x from (values 1, 2, 3) as t(x) where x not between 2 and 3
select 3 between 5 and 1, null between 1 and 2, 1 between null and 0
select * from (values 1, 2, 3) as t(x) tablesample system (100) order by x
select count(*) from (values 1, 2, 3) as t(x) tablesample bernoulli (0)
select count(*) between 0 and 3 from (values 1, 2, 3) as t(x) tablesample bernoulli (50)
select max_by(x, y), min_by(x, y), max_by(x, y, 2) from (values ('a', 1), ('b', 3), ('c', 2)) as t(x, y)
select max_by(x, y) from (values ('a', null), ('b', 1), (null, 2)) as t(x, y)
select max(x, 2), min(x, 2) from (values 1, 2, 3) as t(x)
select arbitrary(x), any_value(x) from (values null, 1) as t(x)
select approx_distinct(x), approx_distinct(x) filter (where x > 1) from (values 1, 2, 2) as t(x)
select count(*), count(1), count(null) from (values 1, null) as t(x)
select sum(null), max(null)
select sum('a')
select avg(date '2024-01-01')
select max(true), min(false)
select bool_and(x) from (values true, null) as t(x)
select "Mixed Case" from (values 1) as t("Mixed Case")
select "mixed case" from (values 1) as t("Mixed Case")
select 1 as "select", 2 as "from"
select 'a' as "ä", 1 as "x y"
select current_date = cast(now() as date), current_timestamp = now(), date(current_timestamp) = current_date
select localtimestamp = cast(current_timestamp as timestamp)
select current_timezone()
select current_user is not null
select current_catalog
select current_schema
select typeof(now()), typeof(current_timestamp), typeof(localtimestamp)
select version() is not null
select 1 -- comment
select /* comment */ 1
select x from (values 1) as t(x) for update
select top 1 x from (values 1) as t(x)
select 1 limit 1.5
select * exclude (x) from (values 1) as t(x)
select x y z from (values 1) as t(x)
select from (values 1) as t(x)
select * from (select * from (select 1 a, 2 b)) where a = 1
select a + 1 as a from (select 1 a) order by a
select * from (values (1, 2), (3, 4)) as t(a, b) where a = 1 and b = 2 or a = 3 and not b = 5 order by a
select 1 + 2 * 3 - 4 / 2 % 3, -2 * -3, (1 + 2) * 3, not true or true
select 1 <> 2, 1 != 2, 1 <= 1, 2 >= 3
select true = false, true > false, true and not false
select 'a' 'b'
select 1 = 1 = true
select x'' is null, x'61' = to_utf8('a')
with sale as (select * from (values (1, 'a', 10.50), (2, 'b', 3.25), (3, 'a', null)) as t(id, cat, price)) select cat, count(*) n, sum(price) total, avg(price) mean from sale group by cat order by cat
with sale as (select * from (values (1, date '2024-03-01', 2), (2, date '2024-03-01', 3), (3, date '2024-04-02', 5)) as t(id, day, qty)) select date_trunc('month', day) as month, sum(qty) from sale group by 1 order by 1
with sale as (select * from (values (1, date '2024-03-01', 2), (2, date '2024-03-02', 3)) as t(id, day, qty)) select day, sum(qty) over (order by day rows unbounded preceding) as running from sale order by day
select DAY, COUNT(*) FROM (VALUES DATE '2024-03-01', DATE '2024-03-01') AS T(Day) GROUP BY Day
select k, v from (select k, v, row_number() over (partition by k order by v desc) as r from (values ('a', 1), ('a', 3), ('b', 2)) as t(k, v)) where r = 1 order by k
select k, 100.0 * v / sum(v) over () as share from (values ('a', 1), ('b', 3)) as t(k, v) order by k
select coalesce(a.k, b.k) k, a.v, b.v w from (values ('x', 1), ('y', 2)) as a(k, v) full join (values ('y', 3), ('z', 4)) as b(k, v) on a.k = b.k order by 1
select k from (values 'a', 'b') as t(k) where k in ('a', 'c') and k like 'a%' or k is null
select year(d) * 100 + month(d) as ym, count(*) from (values date '2024-03-01', date '2024-03-09', date '2023-12-31') as t(d) group by year(d) * 100 + month(d) order by ym
select d, lead(d) over (order by d) - d as gap from (values date '2024-03-01', date '2024-03-09') as t(d) order by d
select sum(case when x > 1 then 1 else 0 end), sum(if(x > 1, y)), count(distinct if(x > 1, y)) from (values (1, 5), (2, 6), (3, 6)) as t(x, y)
select x from (values 'b', 'a', 'C') as t(x) order by lower(x) desc
select a.x from (values 1, 2, 3) as a(x) left join (values 2) as b(x) on a.x = b.x where b.x is null order by a.x
select count(*) from (select distinct x, y from (values (1, 1), (1, 1), (1, 2)) as t(x, y))
select max_by(x, y), min_by(x, y) from (values ('a', 1), ('b', 3), ('c', 2)) as t(x, y)
select t.k, sum(e) from (values ('a', array[1, 2]), ('b', array[3])) as t(k, a) cross join unnest(a) as u(e) group by t.k order by t.k
