-- statements that DuckDB or sqlglot would accept; Trino's grammar or analysis decides
select x from (values 1, 2, 3) as t(x) order by x limit 2 offset 1
select x from (values 1, 2, 3) as t(x) order by x offset 1 limit 2
select x from (values 1, 2, 3) as t(x) order by x offset 1
select x from (values 1, 2, 3) as t(x) order by x offset 1 row
select x from (values 1, 2, 3) as t(x) order by x offset 1 rows
select x from (values 1, 2, 3) as t(x) order by x offset 1 rows fetch first 1 row only
select x from (values 1, 2, 3) as t(x) order by x fetch first 2 rows only
select x from (values 1, 2, 3) as t(x) order by x fetch next row only
select x from (values 1, 2, 3) as t(x) order by x fetch first 2 rows only offset 1
select x from (values 1, 2, 3) as t(x) order by x limit 1, 2
select x from (values 1, 2, 3) as t(x) order by x limit all
select x from (values 1, 2, 3) as t(x) order by x limit null
select x from (values 1, 2, 3) as t(x) order by x limit 1 + 1
select x from (values 1, 2, 3) as t(x) order by x limit -1
select x from (values 1, 2, 3) as t(x) order by x limit 1.5
select x from (values 1, 2, 3) as t(x) order by x limit '1'
select x from (values 1, 2, 3) as t(x) order by x limit (1)
select x from (values 1, 2, 3) as t(x) limit 2 order by x
select 1::varchar
select '1'::integer
select x::varchar from (values 1) as t(x)
select 1 == 1
select x from (values 1, 2) as t(x) where x == 1
select 1 != 2
select 1 <> 2
select 1 <=> 1
select 1 !< 2
select 1 ^= 2
select interval '7 days'
select interval '7' days
select interval '7' day
select interval '1' week
select interval '1' weeks
select interval '1' quarter
select interval '2' hours
select interval '2' hour
select interval '3' minutes
select interval '4' seconds
select interval '4' second
select interval '1' years
select interval '1' months
select interval 7 day
select interval '1 day'
select interval 'x' day
select interval '1.5' day
select interval '1.5' second
select interval '1' millisecond
select interval -'1' day
select interval '-1' day
select interval +'1' day
select date '2024-01-01' + interval '7 days'
select date '2024-01-01' + interval '1' week
select date '2024-01-01' + 1
select date '2024-01-01' - date '2023-12-31'
select cast(1 as string)
select cast(1 as text)
select cast(1 as varchar)
select cast('1' as int)
select cast('1' as integer)
select cast('1' as int4)
select cast('1' as int8)
select cast('1' as long)
select cast('1' as short)
select cast('1' as number)
select cast('1' as numeric)
select cast('1.5' as numeric(3, 1))
select cast('1.5' as dec(3, 1))
select cast('1.5' as decimal(3, 1))
select cast('1.5' as float)
select cast('1.5' as float4)
select cast('1.5' as float8)
select cast('1.5' as double)
select cast('1.5' as double precision)
select cast('1.5' as real)
select cast('a' as nvarchar)
select cast('a' as char varying)
select cast('a' as character varying(3))
select cast('a' as bytea)
select cast('a' as binary)
select cast('a' as blob)
select cast('a' as varbinary)
select cast('true' as bool)
select cast('true' as boolean)
select cast('2024-01-01' as datetime)
select cast('2024-01-01 00:00:00' as timestamp)
select cast('2024-01-01' as date)
select cast(1 as unsigned)
select cast(1 as uint64)
select cast(1 as hugeint)
select cast(1 as tinyint)
select cast(1 as money)
select cast('{}' as jsonb)
select cast('{}' as variant)
select cast(array[1] as bigint[])
select cast(array[1] as array<bigint>)
select cast(array[1] as array(bigint))
select cast(array[1] as array(string))
select cast(map(array[1], array[2]) as map<bigint, bigint>)
select cast(map(array[1], array[2]) as map(bigint, bigint))
select cast(row(1, 2) as row(a bigint, b bigint))
select cast(row(1, 2) as struct<a:bigint, b:bigint>)
select cast(row(1, 2) as struct(a bigint, b bigint))
select cast(row(1, 2) as row<a bigint, b bigint>)
select convert(varchar, 1)
select convert(1, varchar)
select safe_cast('1' as integer)
select try_cast('x' as integer)
select 1,
select 1, 2, from (values 1) as t(x)
select x, from (values 1) as t(x)
select array[1, 2,]
select (1, 2,)
select x from (values 1, 2,) as t(x)
select count(*) from (values 1) as t(x) group by x,
select x from (values 1) as t(x) order by x,
select x from (values 1) as t(x) where x in (1, 2,)
select coalesce(1, 2,)
select grouping(x) from (values 1, 2) as t(x) group by x order by 1
select x, grouping(x) from (values 1, 2) as t(x) group by rollup(x) order by 1, 2
select x from (values 1, 2) as t(x) group by x order by grouping(x)
select x, count(*) from (values 1, 2) as t(x) group by rollup(x) order by grouping(x), x
select x, count(*) from (values 1, 2) as t(x) group by rollup(x) having grouping(x) = 0 order by x
select grouping(x) from (values 1, 2) as t(x)
select grouping(y) from (values (1, 2)) as t(x, y) group by x
select x from (values 1, 2) as t(x) where exists (select 1 from (values 1) as u(y) where y = x limit 1)
select x from (values 1, 2) as t(x) where exists (select 1 from (values 1) as u(y) where y = x limit 0)
select x from (values 1, 2) as t(x) where exists (select 1 from (values 1) as u(y) where y = x order by y)
select x from (values 1, 2) as t(x) where exists (select 1 from (values 1) as u(y) where y = x) order by x
select x from (values 1, 2) as t(x) where exists (select 1 from (values 1) as u(y) where y < x limit 5) order by x
select x from (values 1, 2) as t(x) where exists (select 1 from (values 1) as u(y) limit 1) order by x
select x from (values 1, 2) as t(x) where not exists (select 1 from (values 1) as u(y) where y = x) order by x
select x from (values 1, 2) as t(x) where x in (select y from (values 1) as u(y) where y = x limit 1)
select x, (select max(y) from (values 1, 2) as u(y) where y <= x) from (values 1, 2) as t(x) order by x
select x, (select y from (values 1, 2) as u(y) where y = x) from (values 1, 2) as t(x) order by x
select x, (select y from (values 1, 2) as u(y) where y <= x order by y desc limit 1) from (values 1, 2) as t(x) order by x
select x, (select y from (values 1, 2) as u(y) where y = x limit 1) from (values 1, 2) as t(x) order by x
select x, (select count(*) from (values 1, 2) as u(y) where y < x) from (values 1, 2, 3) as t(x) order by x
select x, (select count(*) from (values 1, 2) as u(y) where y < x limit 1) from (values 1, 2, 3) as t(x) order by x
select x, (select y from (values 1, 1) as u(y) where y = x) from (values 1, 2) as t(x) order by x
select null
select null as x
select array[null]
select 1 where null
select 1 having true
select 1 having false
select x from (values 1, 2) as t(x) having x > 1
select count(*) from (values 1, 2) as t(x) having count(*) > 1
select sum(x) as s from (values 1, 2) as t(x) having s > 1
select x as y from (values 1, 2) as t(x) where y > 1
select x as y from (values 1, 2) as t(x) group by y
select x + 1 as y, count(*) from (values 1, 2) as t(x) group by 1 order by y
select x as y from (values 2, 1) as t(x) order by y
select x as y from (values 2, 1) as t(x) order by y + 1
select x, count(*) from (values 1, 2) as t(x)
select x, y from (values (1, 2)) as t(x, y) group by x
select x, max(y) from (values (1, 2)) as t(x, y) group by all
select x, y from (values (2, 1), (1, 2)) as t(x, y) order by all
select distinct on (x) x, y from (values (1, 2), (1, 3)) as t(x, y)
select * exclude (x) from (values (1, 2)) as t(x, y)
select * except (x) from (values (1, 2)) as t(x, y)
select * replace (1 as x) from (values (1, 2)) as t(x, y)
select * rename (x as z) from (values (1, 2)) as t(x, y)
select columns('x') from (values (1, 2)) as t(x, y)
select t.* from (values (1, 2)) as t(x, y)
select u.* from (values (1, 2)) as t(x, y)
select t.*, 1 from (values (1, 2)) as t(x, y)
from (values 1) as t(x)
from (values 1) as t(x) select x
select x from (values 1, 2, 3) as t(x) qualify row_number() over (order by x) = 1
select x from (values 1, 2) as t(x) where x in 1
select x from (values 1, 2) as t(x) where x in (1)
select x from (values 1, 2) as t(x) where x in ()
select x from (values 'a', 'b') as t(x) where x ilike 'A'
select 'a' ilike 'A'
select 'a' similar to 'a'
select 'a' ~ 'a'
select 'a' !~ 'a'
select 'a' ~* 'A'
select 'a' rlike 'a'
select 'a' regexp 'a'
select 'a' glob 'a*'
select 'a' like 'A'
select 'a' not like 'b'
select 'a' like any (array['a'])
select 'a%' like 'a\%' escape '\'
select 'ab' like 'a\_'
select 7 div 2
select 7 // 2
select 7 / 2
select 7 % 2
select 7 mod 2
select 2 ** 3
select 2 ^ 3
select 5 & 3
select 5 | 3
select 5 # 3
select ~5
select 1 << 2
select 8 >> 1
select !true
select not true
select true and false
select true && false
select true || false
select 'a' || 'b'
select 'a' + 'b'
select 'a' || 1
select 1 || 'a'
select concat('a', 1)
select 1 + '1'
select 1 = '1'
select '1' = 1
select 1 < 'a'
select 'a' < 'b'
select date '2024-01-01' = '2024-01-01'
select date '2024-01-01' > '2023-01-01'
select timestamp '2024-01-01 00:00:00' > '2023-01-01'
select timestamp '2024-01-01 00:00:00' > date '2023-01-01'
select true = 1
select true = 'true'
select true > false
select 1 in ('1', '2')
select 1 between '0' and '2'
select case when 1 then 2 end
select case 1 when '1' then 2 end
select if(1, 2, 3)
select if(true, 1, 'a')
select if(true, 1)
select iif(true, 1, 2)
select coalesce(1, 'a')
select coalesce(1)
select coalesce()
select nullif(1, 'a')
select ifnull(1, 2)
select nvl(1, 2)
select isnull(1)
select nvl2(1, 2, 3)
select decode(1, 1, 2)
select zeroifnull(null)
select len('a')
select length('a')
select char_length('a')
select character_length('a')
select left('abc', 2)
select right('abc', 2)
select mid('abc', 2)
select instr('abc', 'b')
select locate('b', 'abc')
select charindex('b', 'abc')
select ucase('a')
select lcase('A')
select initcap('abc')
select space(3)
select repeat('a', 3)
select ascii('a')
select substring('abc' from 2)
select substring('abc' from 2 for 1)
select substring('abc', 2, 1)
select position('b' in 'abc')
select trim('x' from 'xax')
select trim(both 'x' from 'xax')
select trim(leading from '  a ')
select trim(trailing from '  a ')
select ltrim('xax', 'x')
select overlay('abc' placing 'x' from 2)
select extract(year from date '2024-01-02')
select extract(epoch from timestamp '2024-01-02 00:00:00')
select extract('year' from date '2024-01-02')
select extract(isodow from date '2024-01-02')
select extract(decade from date '2024-01-02')
select extract(timezone_hour from timestamp '2024-01-02 00:00:00 UTC')
select date_part('year', date '2024-01-02')
select datepart(year, date '2024-01-02')
select datediff('day', date '2024-01-02', date '2024-01-03')
select datediff(date '2024-01-02', date '2024-01-03')
select date_diff(day, date '2024-01-02', date '2024-01-03')
select dateadd('day', 1, date '2024-01-02')
select date_add(date '2024-01-02', 1)
select date_add(day, 1, date '2024-01-02')
select date_sub(date '2024-01-02', interval '1' day)
select add_months(date '2024-01-02', 1)
select months_between(date '2024-01-02', date '2024-02-02')
select last_day(date '2024-01-02')
select trunc(1.5)
select trunc(date '2024-01-02', 'MM')
select date_trunc('decade', date '2024-01-02')
select date_trunc('days', date '2024-01-02')
select date_trunc(month, date '2024-01-02')
select to_date('2024-01-02')
select to_date('2024-01-02', 'yyyy-mm-dd')
select to_timestamp('2024-01-02 00:00:00', 'yyyy-mm-dd hh24:mi:ss')
select to_char(timestamp '2024-01-02 03:04:05', 'yyyy/mm/dd')
select to_char(date '2024-01-02', 'yyyy/mm/dd')
select strftime(date '2024-01-02', '%Y')
select unix_timestamp('2024-01-02')
select getdate()
select sysdate
select today()
select current_date()
select current_timestamp()
select now() is not null
select current_timestamp(3) is not null
select localtimestamp is not null
select localtime is not null
select current_time is not null
select group_concat('a')
select string_agg('a', ',')
select array_to_string(array['a'], ',')
select string_to_array('a,b', ',')
select list_value(1, 2)
select array(1, 2)
select [1, 2]
select {'a': 1}
select array[1, 2][1:2]
select array[1, 2][1]
select array[1, 2][0]
select array[1, 2][3]
select array[1, 2][-1]
select array_contains(array[1], 1)
select array_length(array[1])
select array_size(array[1])
select size(array[1])
select array_append(array[1], 2)
select array_prepend(1, array[2])
select array_concat(array[1], array[2])
select collect_list(x) from (values 1) as t(x)
select collect_set(x) from (values 1) as t(x)
select list(x) from (values 1) as t(x)
select explode(array[1])
select unnest(array[1, 2])
select posexplode(array[1])
select get_json_object('{"a":1}', '$.a')
select json_extract_path_text('{"a":1}', 'a')
select '{"a":1}' -> 'a'
select '{"a":1}' ->> 'a'
select json_parse('{"a":1}').a
select regexp_matches('a', 'a')
select regexp_substr('a', 'a')
select regexp_instr('a', 'a')
select hash('a')
select md5('a')
select sha256('a')
select to_hex('a')
select hex(1)
select unhex('61')
select rand() is not null
select random() is not null
select uuid() is not null
select typeof(uuid())
select gen_random_uuid()
select pow(2, 3)
select sqrt(4)
select square(2)
select cot(1)
select log(2, 8)
select log(8)
select median(x) from (values 1) as t(x)
select mode(x) from (values 1) as t(x)
select first(x) from (values 1) as t(x)
select last(x) from (values 1) as t(x)
select first_value(x) from (values 1) as t(x)
select any(x) from (values 1) as t(x)
select count(distinct x, y) from (values (1, 2)) as t(x, y)
select count(distinct (x, y)) from (values (1, 2)) as t(x, y)
select count(distinct *) from (values (1, 2)) as t(x, y)
select count() from (values 1) as t(x)
select count(*) filter (where x > 1) from (values 1, 2) as t(x)
select sum(*) from (values 1) as t(x)
select sum(distinct x) from (values 1, 1, 2) as t(x)
select sum('a')
select avg('1')
select max()
select percentile_cont(0.5) within group (order by x) from (values 1, 2, 3) as t(x)
select percentile_disc(0.5) within group (order by x) from (values 1, 2, 3) as t(x)
select quantile(x, 0.5) from (values 1, 2, 3) as t(x)
select row_number() from (values 1) as t(x)
select row_number() over () from (values 1) as t(x)
select rank() over () from (values 1) as t(x)
select sum(x) over (order by x rows 1 preceding) from (values 1, 2) as t(x) order by 1
select sum(x) over (order by x rows between 1 following and 1 preceding) from (values 1, 2) as t(x)
select sum(x) over (rows between current row and 1 following exclude current row) from (values 1, 2) as t(x)
select sum(sum(x)) over () from (values 1, 2) as t(x)
select sum(sum(x)) from (values 1, 2) as t(x)
select row_number() over (order by row_number() over ()) from (values 1, 2) as t(x)
select x from (values 1, 2) as t(x) where row_number() over () = 1
select x from (values 1, 2) as t(x) where sum(x) > 1
select x from (values 1, 2) as t(x) group by sum(x)
select * from (values 1) t(x) natural join (values 1) u(x)
select * from (values 1) t(x) semi join (values 1) u(x) on t.x = u.x
select * from (values 1) t(x) anti join (values 1) u(x) on t.x = u.x
select * from (values 1) t(x) asof join (values 1) u(y) on t.x >= u.y
select * from (values 1) t(x) positional join (values 1) u(y)
select * from (values 1) t(x) join (values 1) u(y)
select * from (values 1) t(x) inner join (values 1) u(y) on x = y
select * from (values 1) t(x) cross join (values 1) u(y)
select * from (values 1) t(x) cross join (values 1) u(y) on x = y
select * from (values 1) t(x), (values 2) u(y)
select * from (values 1) t(x) left outer join (values 1) u(y) on x = y
select * from (values 1) t(x) left join (values 1) u(x) using (x)
select * from (values 1) t(x) left join (values 1) u(x) using (y)
select x from (values 1) t(x) join (values 1) u(x) on t.x = u.x
select t.x from (values 1) t(x) join (values 1) t(x) on true
select * from (values 1) t(x) join (values 1) u(y) on x
select * from (values 1) t(x) join lateral (values x + 1) u(y) on true
select * from (values 1) t(x), lateral (values x + 1) u(y)
select * from (values 1) t(x), (values x + 1) u(y)
select * from (values array[1, 2]) t(a), unnest(a) u(x) order by x
select * from (values array[1, 2]) t(a) left join unnest(a) u(x) on true order by x
select * from (values array[1, 2]) t(a) join unnest(a) u(x) on true order by x
select * from (values array[1, 2]) t(a) join unnest(a) u(x) on x = 1
select * from unnest(array[1, 2]) order by 1
select * from unnest(array[1, 2]) as u order by 1
select * from unnest(array[1, 2]) with ordinality order by 1
select * from unnest(array[1, 2]) as u(x) with ordinality
select * from unnest(1)
select * from unnest(array[1], array['a', 'b']) as u(x, y) order by y
select * from (values array[]) t(a) cross join unnest(a)
select * from table(sequence(1, 3)) order by 1
select * from table(sequence(1, 5, 2)) order by 1
select * from table(sequence(start => 1, stop => 3)) order by 1
select * from range(3)
select * from generate_series(1, 3)
select * from sequence(1, 3)
select 1 union select 2 order by 1
select 1 union all select 1
select 1 union distinct select 1
select 1 union select 'a'
select 1, 2 union select 1
select 1 union by name select 1
select 1 minus select 1
select 1 except select 1
select 1 intersect select 1
select 1 except all select 1
select 1 intersect all select 1
select 1 as x union select 2 as y order by x
select 1 as x union select 2 as y order by y
(select 1) union all (select 2) order by 1
(select 1 as x order by x limit 1) union all (select 2 limit 1) order by 1
with t as (select 1 as x) select * from t
with t(x) as (select 1) select * from t
with t(x, y) as (select 1) select * from t
with t as (select 1) select * from u
with t as (select 1 as x), u as (select x + 1 as y from t) select * from t, u
with u as (select * from t), t as (select 1 as x) select * from u
with t as materialized (select 1 as x) select * from t
with t as (select 1 as x), t as (select 2 as x) select * from t
table t
values 1
values (1, 'a'), (2, 'b')
values 1, 'a'
values (1, 2), (3)
select * from (select 1)
select * from (select 1 as x) as t
select * from (select 1 as x) t where t.x = 1
select * from (select 1 as x) where x = 1
select x.y from (select row(1) as x)
select "x" from (select 1 as X)
select "X" from (select 1 as x)
select `x` from (select 1 as x)
select [x] from (select 1 as x)
select 'it''s'
select "it's"
select 'a' 'b'
select E'a\n'
select U&'\0041'
select N'a'
select X'61'
select x'6'
select b'1'
select $$a$$
select 1 -- comment
select 1 /* comment */
select 1 # comment
select 1; select 2
select
select *
selec 1
select 1 from
select 1 where
select from (values 1) as t(x)
select 1 as
select 1 as 1
select 1 as 'a'
select 1 as "a b"
select 1 a
select 1 as select
select 1 as date
select 1 as "date"
select 1 as year
select 1 as table
select 1 as order
select 1 as user
select 1 as group
select date from (values 1) as t(date)
select t.date from (values 1) as t(date)
select row from (values 1) as t(row)
select top 1 x from (values 1) as t(x)
select all x from (values 1) as t(x)
select distinct x from (values 1, 1) as t(x)
select unique x from (values 1, 1) as t(x)
select straight_join 1
select 1 for update
select 1 into t
select 1 limit 1 percent
select x from (values 1, 2) as t(x) tablesample bernoulli (100) order by x
select x from (values 1, 2) as t(x) tablesample (100) order by x
select x from (values 1, 2) as t(x) using sample 100%
select x from (values 1, 2) as t(x) order by x asc nulls first
select x from (values 1, null) as t(x) order by x nulls last
select x from (values 1, null) as t(x) order by x desc
select x from (values 1, null) as t(x) order by x desc nulls first
select x from (values 1, null) as t(x) order by 1
select x from (values 1, 2) as t(x) order by 2
select x from (values 1, 2) as t(x) order by 0
select x from (values 1, 2) as t(x) order by 'x'
select x from (values 1, 2) as t(x) order by y
select x from (values 1, 2) as t(x) order by -x
select distinct x from (values (1, 2)) as t(x, y) order by y
select x from (values 1, 2) as t(x) group by 1 order by 1
select x from (values 1, 2) as t(x) group by 2
select x + 1 from (values 1, 2) as t(x) group by x + 1 order by 1
select x + 2 from (values 1, 2) as t(x) group by x + 1
select x + 1 + 1 from (values 1, 2) as t(x) group by x + 1 order by 1
select lower(x), count(*) from (values 'A', 'a') as t(x) group by lower(x)
select lower(x), count(*) from (values 'A', 'a') as t(x) group by x order by 2, 1
select x, y, count(*) from (values (1, 2)) as t(x, y) group by cube(x, y) order by 1, 2
select x, y, count(*) from (values (1, 2)) as t(x, y) group by grouping sets ((x), (y), ()) order by 1, 2
select x, y, count(*) from (values (1, 2)) as t(x, y) group by x, rollup(y) order by 1, 2
select x, y, count(*) from (values (1, 2)) as t(x, y) group by x with rollup
select 1 is true
select true is true
select true is not false
select null is unknown
select 1 is null
select 1 is distinct from null
select 1 isnull
select 1 notnull
select 1 is not distinct from 1
select exists (select 1)
select exists (values 1)
select not exists (select 1 where false)
select 1 = any (select 1)
select 1 = some (values 1, 2)
select 1 = all (values 1, 2)
select 1 > all (values 0)
select 1 <> all (values 0)
select 1 >= any (values 2)
select 1 = any (array[1])
select any_match(array[1], x -> x = 1)
select any_match(array[1], (x) -> x = 1)
select any_match(array[1], lambda x: x = 1)
select transform(array[1], x -> x)
select transform(array[1], x -> y)
select transform(array[1], (x, y) -> x)
select filter(array[1], x -> x)
select max(1, 2)
select greatest(1)
select greatest(1, 'a')
select least(1, 2.5)
select greatest()
select round(1.5, 1.5)
select round('1.5')
select abs('1')
select upper(1)
select lower(null)
select length(1)
select substr('abc', '1')
select substr(1, 1)
select replace('a', 1, 2)
select year('2024-01-01')
select month(1)
select day(null)
select date_trunc('day', '2024-01-01')
select date_add('day', '1', date '2024-01-01')
select date_add('day', 1.5, date '2024-01-01')
select date_diff('day', '2024-01-01', '2024-01-02')
select from_unixtime('1')
select from_unixtime(null)
select sum(true)
select avg(date '2024-01-01')
select sum(interval '1' day)
select avg(interval '1' day)
select max(true), min(true)
select max(array[1])
select min(row(1, 2))
select max(json '1')
select count(null)
select bool_and(1)
select array_agg(distinct x order by x) from (values 2, 1, 1) as t(x)
select array_agg(x order by y desc) from (values (1, 2), (2, 3)) as t(x, y)
select array_agg(distinct x order by y) from (values (1, 2), (2, 3)) as t(x, y)
select listagg(x, ',') from (values 'a') as t(x)
select listagg(x, ',') within group (order by x) from (values 'b', 'a') as t(x)
select listagg(distinct x, ',') within group (order by x) from (values 'b', 'a', 'a') as t(x)
select listagg(x) within group (order by x) from (values 'b', 'a') as t(x)
select listagg(x, ',') within group (order by x) from (values 1, 2) as t(x)
select listagg(x, ',' on overflow error) within group (order by x) from (values 'b', 'a') as t(x)
select listagg(x, ',' on overflow truncate) within group (order by x) from (values 'b', 'a') as t(x)
select listagg(x, ',') within group (order by x) filter (where x > 'a') from (values 'b', 'a') as t(x)
