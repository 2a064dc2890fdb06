select 1.23 + 4.5, 1.23 - 4.5, 1.23 * 4.5
select typeof(1.23 + 4.5), typeof(1.23 * 4.5), typeof(1.23 / 4.5), typeof(1.23 % 4.5)
select 10.00 / 3, 10 / 3.00, 1 / 3.000
select 7.5 % 2, -7.5 % 2, 7.5 % -2.25
select 1.0 / 0
select 5 % 0
select 1e0 % 0
select 0e0 / 0
select 2.5 / 0.3
select -2.5 / 0.3
select cast(1 as decimal(38,0)) / 3
select cast(99999999999999999999999999999999999999 as decimal(38,0)) + 1
select 99999999999999999999999999999999999999 * 10
select 12345678901234567890
select typeof(12345678901234567890)
select 9223372036854775807
select 9223372036854775807 + 1
select -9223372036854775808
select cast(127 as tinyint) + cast(1 as tinyint)
select cast(128 as tinyint)
select typeof(cast(1 as tinyint) + cast(1 as smallint))
select typeof(cast(1 as smallint) * 2), typeof(1 + cast(1 as bigint)), typeof(1 + 1e0), typeof(cast(1 as real) + 1)
select cast(1.1 as real) + 1
select cast(1 as real) / 3
select cast(0.1 as real) * 3
select 1.5 + 1e0
select 3 * 1.50
select typeof(3 * 1.50), typeof(cast(3 as bigint) + 1.5)
select -(1.5), +2, - -3
select 1_000
select 0x1F
select 0b101
select 007
select .5, 5., 1.e2
select 1.10 = 1.1, 1.10 < 1.2
select 0.1 + 0.2 = 0.3, 0.1e0 + 0.2e0 = 0.3e0
select round(1.2345, 2)
select round(-1.255, 2)
select round(1234.5, -2)
select round(1.2345e0, 2), round(-2.5e0), round(1234.5e0, -2)
select round(15, -1)
select round(-15, -1)
select round(12345678901, -3)
select typeof(round(1.2345, 2)), typeof(round(1.5)), typeof(round(1)), typeof(round(2.5e0))
select round(cast(2.5 as real))
select truncate(1.2345, 2)
select truncate(1234.5, -2)
select truncate(2.9e0), truncate(-2.9e0)
select ceil(1.01), floor(-1.01), ceil(2e0), ceiling(-0.5e0)
select typeof(ceil(1.01)), typeof(floor(123.45)), typeof(truncate(1.5))
select ceil(5), floor(cast(5 as bigint))
select abs(-1.5), abs(-2e0), abs(cast(-3 as smallint))
select abs(cast(-128 as tinyint))
select sign(-5)
select sign(0)
select sign(2.5)
select sign(-2.5e0)
select sign(nan())
select typeof(sign(2.5))
select typeof(sign(-2.5e0))
select typeof(sign(cast(1 as bigint)))
select mod(-7, 3), mod(7.5, 2), mod(7e0, 2.5e0)
select power(2, -1), power(0, 0), power(-8, 1e0 / 3)
select sqrt(2)
select sqrt(-1)
select cbrt(27)
select exp(1), ln(10), log10(1000), log2(8), log(10, 1000)
select ln(0), ln(-1)
select pi(), e()
select sin(1), cos(1), tan(1), asin(2), acos(1), atan(1), atan2(1, -1)
select sinh(1)
select cosh(1)
select tanh(1)
select degrees(pi()), radians(180)
select greatest(1.5, 2)
select least(1.5, 2e0)
select greatest('a', 'b')
select greatest(1e0, nan())
select is_nan(0e0 / 0), is_infinite(1e0 / 0), is_finite(1e0)
select infinity() > 1e308, - infinity()
select nan() = nan(), nan() is distinct from nan()
select nan() < infinity(), nan() in (nan())
select nan() between 0e0 and 1e0
select -0e0, 0e0 = -0e0
select 1e100, 1e-100, 12345678e0, 1234567e0, 0.001e0, 0.00099e0
select 1.7976931348623157e308, 4.9e-324, 100e0, 123456789.123e0
select cast(1.0e10 as real), cast(16777217 as real), cast(3.4028235e38 as real), cast(1e-45 as real)
select cast(123456.789 as real), cast(0.001 as real), cast(1.0e7 as real)
select bitwise_and(12, 10), bitwise_or(12, 10), bitwise_xor(12, 10), bitwise_not(12)
select bitwise_left_shift(1, 5)
select bitwise_right_shift(-8, 1)
select bitwise_right_shift_arithmetic(-8, 1)
select bit_count(255, 64)
select to_base(255, 16)
select to_base(-255, 16)
select from_base('-ff', 16)
select from_base('zz', 36)
select from_base('xyz', 10)
select width_bucket(3, array[1, 2, 4])
select width_bucket(11e0, 0, 10, 5)
select width_bucket(-1, 0, 10, 5)
select width_bucket(10, 10, 0, 5)
select rand() between 0 and 1
select random(10) < 10
select format_number(123456)
select format_number(1000000)
select nullif(1.0, 1), nullif(1, 1.5), typeof(nullif(1, 1.5))
select coalesce(1, 2.5), typeof(coalesce(1, 2.5)), coalesce(null, 1e0, 2)
select case when true then 1 else 2.5 end, typeof(case when true then 1 else 2.5e0 end)
select if(1 > 2, 1.5, 2)
select sum(x), avg(x) from (values 1.25, 2.5, null) as t(x)
select typeof(sum(x)), typeof(avg(x)) from (values 1.25, 2.5) as t(x)
select typeof(sum(x)), typeof(avg(x)), typeof(count(*)), typeof(min(x)) from (values cast(1 as smallint)) as t(x)
select sum(x), avg(x), min(x), max(x) from (values cast(1.5 as real), cast(2.5 as real)) as t(x)
select sum(x) from (values 9223372036854775807, 1) as t(x)
select avg(x) from (values 9223372036854775807, 9223372036854775807) as t(x)
select avg(x) from (values 1, 2, 2) as t(x)
select avg(x) from (values 0.5, 0.6) as t(x)
select avg(x) from (values -0.5, -0.6) as t(x)
select sum(x) from (values 0.1e0, 0.2e0, 0.3e0) as t(x)
select max(x), min(x) from (values 1e0, nan(), 2e0) as t(x)
select stddev(x), stddev_pop(x), var_pop(x) from (values 1, 2, 4) as t(x)
select stddev(x), variance(x) from (values 1) as t(x)
select corr(x, y), covar_pop(x, y), covar_samp(x, y), regr_slope(x, y) from (values (1, 2), (2, 4), (3, 7)) as t(x, y)
select skewness(x), kurtosis(x) from (values 1, 2, 4, 8, 9) as t(x)
select approx_percentile(x, 0.5), approx_percentile(x, array[0.25, 0.75]) from (values 1, 2, 3, 4, 5) as t(x)
select bitwise_and_agg(x), bitwise_or_agg(x) from (values 12, 10) as t(x)
select entropy(x) from (values 1, 1, 2) as t(x)
select geometric_mean(x) from (values 1, 4, 16) as t(x)
select count(x), count(*), count(distinct x) from (values 1, null, 1, 2) as t(x)
select sum(distinct x), avg(distinct x) from (values 1, 1, 2) as t(x)
select count_if(x > 1), bool_and(x > 1), bool_or(x > 1), every(x > 0) from (values 1, null, 3) as t(x)
select sum(x), avg(x), count(x), max(x), bool_and(x > 1), array_agg(x), stddev(x) from (values 1) as t(x) where x > 1
select least(1e0, nan()), greatest(nan(), 1e0), greatest(nan(), nan()), least(nan(), null)
select max_by(x, y), min_by(x, y) from (values ('a', nan()), ('b', 1e0), (null, 2e0)) as t(x, y)
select max_by(x, y) from (values (1, nan())) as t(x, y)
select max(x), min(x) from (values nan()) as t(x)
select x, max(x) over (order by x) from (values 1e0, nan()) as t(x) order by x
select x from (values nan(), 1e0, infinity(), null) as t(x) order by x
select count(*) from (values nan(), nan()) as t(x) group by x
select count(*) from (values nan()) as t(x) join (values nan()) as u(y) on x = y
select 1 where 1e0 in (select x from (values nan(), 1e0) as t(x))
select 1 where nan() in (select x from (values nan(), 1e0) as t(x))
select power(nan(), 0), atan2(nan(), 1), exp(nan()), log(2, nan()), power(1, nan()), round(nan(), 2)
