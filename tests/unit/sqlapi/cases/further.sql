select date_diff('month', date '2024-01-15', date '2024-03-14')
select date_diff('month', date '2024-03-15', date '2024-01-14')
select date_diff('year', date '2020-02-28', date '2024-02-27')
select date_diff('hour', timestamp '2024-01-01 00:30:00', timestamp '2024-01-01 02:29:59')
select date_diff('day', timestamp '2024-01-01 23:00:00', timestamp '2024-01-02 22:00:00')
select date '2024-01-31' + interval '1' month
select timestamp '2024-01-31 10:00:00' - interval '1' day
select date_trunc('month', date '2024-03-15')
select date_trunc('week', date '2024-03-10')
select extract(year from timestamp '2024-03-05 14:07:09')
select year(date '2024-03-05')
select day_of_year(date '2024-03-01')
select hour(timestamp '2024-03-05 14:07:09')
select date_parse('2024-03-05 14:07:09', '%Y-%m-%d %H:%i:%s')
select date_format(date '2024-03-05', '%W %e %M')
select timestamp '2024-03-05 00:00:00' - timestamp '2024-03-04 23:00:00'
select interval '2' day
select interval '14' month
select date '2024-03-05' = timestamp '2024-03-05 00:00:00'
select cast(timestamp '2024-03-05 14:07:09.6' as date)
select 7 / -2
select -7 % 3
select 5 / 2.0
select 1 / 3.0
select 1.00 / 3
select 2.0 / 3
select 1.5 * 1.5
select 1.1 + 2.22
select cast(1 as decimal(10,4)) / 3
select cast(2.5 as integer)
select cast(-2.5 as integer)
select cast(2.5e0 as bigint)
select 2147483648
select typeof(2147483648)
select typeof(1.50)
select typeof(1e0)
select typeof(1 + 1.5)
select typeof(array[1, 2])
select typeof('abc')
select 2147483647 + 1
select 1 / 0
select 1e0 / 0
select nan() = nan()
select nan() <> nan()
select nan() > 1e0
select is_nan(nan())
select 1e7
select 123456.789e0
select 1e-3
select cast(0.1 as real)
select round(2.5)
select ceil(-1.5)
select floor(-1.5)
select abs(-3)
select greatest(1, 3, 2)
select least(1, null)
select power(2, 10)
select sqrt(4)
select bitwise_xor(5, 3)
select from_base('ff', 16)
select substr('hello', -3)
select substr('hello', 0)
select substr('hello', 4, 9)
select substring('hello' from 2 for 2)
select length('öl')
select trim('  a ')
select ltrim(' a')
select reverse('abc')
select lpad('hello', 2, 'x')
select rpad('a', 3, 'xy')
select split_part('a,b', ',', 3)
select split_part('a,b', ',', 2)
select strpos('abc', 'z')
select concat('a', null)
select 'a' || null
select 'abc' like 'a_c'
select 'a%c' like 'a#%c' escape '#'
select 'abc' not like 'b%'
select upper('öl')
select regexp_replace('2024-03', '(\d+)-(\d+)', '$2/$1')
select regexp_extract('abc', '\d+')
select regexp_like('abc', '^b')
select regexp_replace('abc', 'b')
select cast('12' as integer) + 1
select try_cast('x' as integer)
select cast('x' as integer)
select cast('true' as boolean)
select cast(1 as varchar)
select cast(true as varchar)
select cast(12.50 as varchar(5))
select 1 = 1.0
select 1 = '1'
select null = 1
select null is distinct from 1
select 1 in (2, null)
select 1 not in (2, 3)
select 2 between 1 and 3
select case when null then 1 else 2 end
select coalesce(null, null, 'x')
select nullif(1, 2)
select if(true, 1)
select try(1 / 0)
select array[1, null]
select array[1, 2][1]
select array[1][2]
select element_at(array[1], 2)
select contains(array[1, 2], 2)
select contains(array[1, null], 2)
select array_distinct(array[2, 1, 2])
select array_max(array[1, 3])
select array_max(array[1, null])
select reverse(array[1, 2])
select slice(array[1, 2, 3], -2, 2)
select cardinality(array[])
select array_remove(array[1, 2, 1], 1)
select all_match(array[1, 2], x -> x > 0)
select none_match(array[1, 2], x -> x > 2)
select transform(array[1, 2], x -> x * 10)
select filter(array[1, null], x -> x is not null)
select sequence(3, 1)
select array_join(array['a', null, 'b'], ',')
select array_join(array['a', null], ',', '?')
select array_position(array[1, 2], 5)
select map(array['a'], array[1])['a']
select map(array['a'], array[1])['b']
select map_values(map(array['a', 'b'], array[1, 2]))
select transform_values(map(array['a'], array[1]), (k, v) -> v + 1)
select row(1, 'x')
select row(1, 2)[2]
select json_extract_scalar('{"a":[1,2]}', '$.a[1]')
select json_extract_scalar('{"a":[1]}', '$.a')
select json_extract_scalar('x', '$.a')
select json_array_length('{}')
select json_parse('{"b":1,"a":2}')
select to_hex(to_utf8('az'))
select from_utf8(to_utf8('a'))
select to_utf8('az')
select url_extract_path('https://a.b/c/d?x=1')
select url_extract_query('https://a.b/c?x=1')
select a, b from (values (1, 'x'), (2, 'y')) as t(a, b) order by a desc
select count(*), count(x), sum(x), min(x) from (values 1, null, 3) as t(x)
select sum(x) from (values 1) as t(x) where x > 5
select x, row_number() over (order by x desc) r from (values 1, 2) as t(x) order by x
select x, sum(x) over (order by x) from (values 1, 2, 3) as t(x) order by x
select x, lag(x) over (order by x), lead(x, 1, 0) over (order by x) from (values 1, 2) as t(x) order by 1
select x, avg(x) over (order by x rows between 1 preceding and current row) from (values 1, 2, 4) as t(x) order by x
select k, first_value(v) over (partition by k order by v) from (values ('a', 2), ('a', 1)) as t(k, v)
select a, b, count(*) from (values (1, 1), (1, 2)) as t(a, b) group by grouping sets ((a), (a, b)) order by a, b
select a, grouping(a), count(*) from (values 1, 2) as t(a) group by cube (a) order by a
select 1 union select 1
select 1 union all select 1.5 order by 1
select x from (values 1, 2) as t(x) except select 2
select x from (values 1, 2) as t(x) intersect select 2
select x from (values 3, 1) as t(x) where x in (select y from (values 3) as u(y))
select x, (select max(y) from (values 1, 5) as u(y) where y > x) from (values 2) as t(x)
select x from (values 1, 2) as t(x) where exists (select 1 from (values 2) as u(y) where y = x)
select * from (values 1, 2) as t(x) left join (values 2) as u(y) on x = y order by x
select * from (values 1) as t(x) full join (values 2) as u(x) using (x) order by x
select k, v from unnest(map(array['a'], array[1])) as t(k, v)
select a, b from unnest(array[row(1, 'x')]) as t(a, b)
select n, e from (values (1, array['p', 'q'])) as t(n, a) cross join unnest(a) with ordinality as u(e, i) order by i
with a(n) as (values 1, 2), b as (select n + 1 as m from a) select sum(m) from b
select x from (values 1, 2, 3) as t(x) order by x desc limit 1
select distinct x from (values 1, 1) as t(x)
select listagg(x, '-') within group (order by x) from (values 'b', 'a') as t(x)
select count(*) filter (where x > 1) from (values 1, 2) as t(x)
select avg(x) from (values 1.0, 2.0, 2.0) as t(x)
select max(x), bool_or(x > 1) from (values 1, 2) as t(x)
select x + 1 as y from (values 1, 2) as t(x) order by y desc
select t.x from (values 1) as t(x) join (values 1) as u(x) on t.x = u.x
select x from (values 1) as t(x), (values 1) as u(x)
select x from (values 1, 2) as t(x) where x > all (select y from (values 1) as u(y))
select "X" from (values 1) as t(x)
select * from (values (1, 'a')) as t(x, y) where (x, y) = (1, 'a')
