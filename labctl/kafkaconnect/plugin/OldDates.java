package labctl;

import io.debezium.spi.converter.CustomConverter;
import io.debezium.spi.converter.RelationalColumn;
import io.debezium.time.Conversions;
import io.debezium.time.Date;
import io.debezium.time.MicroTimestamp;
import io.debezium.time.Timestamp;
import io.debezium.time.ZonedTimestamp;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.GregorianCalendar;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TimeZone;
import java.util.function.Function;
import org.apache.kafka.connect.data.SchemaBuilder;

/**
 * Sends PostgreSQL's dates from before 15 October 1582 in a first load as in the log, and so the dates
 * and timestamps in arrays.
 *
 * <p>There, PostgreSQL's driver shows them in the Julian calendar, with an era. Debezium leaves the era
 * out, so that 44 BC becomes AD 44, and shifts timestamps by days. All other values are as with {@code
 * time.precision.mode=adaptive_time_microseconds}.
 */
public final class OldDates implements CustomConverter<SchemaBuilder, RelationalColumn> {
    private static final int DATE = 1082;
    private static final int TIMESTAMP = 1114;
    private static final int TIMESTAMP_WITH_ZONE = 1184;
    private static final Map<Integer, Integer> ELEMENTS =
            Map.of(1182, DATE, 1115, TIMESTAMP, 1185, TIMESTAMP_WITH_ZONE);
    /** A year before Christ, in microseconds. */
    private static final long LONG_AGO = -100_000_000_000_000_000L;

    private static final int MILLISECONDS = 3;
    /** A day after the calendars' change in every time zone, in milliseconds. */
    private static final long SAME_CALENDAR = -12_219_292_800_000L + 86_400_000L;

    /** How the driver shows infinity, in milliseconds. */
    private static final long INFINITY = 9_223_372_036_825_200_000L;

    private static final long MINUS_INFINITY = -9_223_372_036_832_400_000L;
    /** How Debezium reads infinity in the log. */
    private static final LocalDate INFINITE_DATE = LocalDate.parse("-5877611-06-21");

    private static final LocalDate MINUS_INFINITE_DATE = LocalDate.parse("-5877611-06-22");

    @Override
    public void configure(Properties properties) {}

    @Override
    public void converterFor(
            RelationalColumn column, ConverterRegistration<SchemaBuilder> registration) {
        int type = column.nativeType();
        if (type == DATE) {
            registration.register(Date.builder(), value -> day(column, value));
            return;
        }
        Form element = formOf(column, ELEMENTS.getOrDefault(type, 0));
        if (element != null) {
            registration.register(
                    SchemaBuilder.array(element.schema.optional().build()),
                    value -> array(column, element, value));
        }
    }

    /** How Debezium sends a type: its schema, and a value of it that no reader takes for a date. */
    private record Form(
            SchemaBuilder schema, Object unknown, Function<Object, Object> convert) {}

    private static Form formOf(RelationalColumn column, int type) {
        int digits = column.scale().orElse(-1);
        int width = column.scale().orElse(column.length().orElse(-1));
        return switch (type) {
            case DATE -> new Form(Date.builder(), Integer.MIN_VALUE, OldDates::date);
            case TIMESTAMP ->
                    digits <= MILLISECONDS
                            ? new Form(
                                    Timestamp.builder(),
                                    LONG_AGO / 1000,
                                    value -> Timestamp.toEpochMillis(timestamp(value), null))
                            : new Form(
                                    MicroTimestamp.builder(),
                                    LONG_AGO,
                                    value -> MicroTimestamp.toEpochMicros(timestamp(value), null));
            case TIMESTAMP_WITH_ZONE ->
                    new Form(
                            ZonedTimestamp.builder(),
                            "unknown",
                            value -> instant(value, width));
            default -> null;
        };
    }

    private static Object day(RelationalColumn column, Object value) {
        if (value == null && !column.isOptional()) { // A deleted row, of which the log has the key.
            return column.defaultValue() != null ? column.defaultValue() : (Object) 0;
        }
        // A column's default comes in the form that is sent.
        return value == null || value instanceof Integer ? value : date(value);
    }

    private static List<Object> array(RelationalColumn column, Form form, Object value) {
        if (value == null) {
            return column.isOptional() ? null : List.of();
        }
        List<Object> elements = new ArrayList<>();
        try {
            for (Object element : (Object[]) ((java.sql.Array) value).getArray()) {
                elements.add(element == null ? null : form.convert.apply(element));
            }
        } catch (SQLException | RuntimeException e) { // Not in the log, or of several dimensions.
            return List.of(form.unknown);
        }
        return elements;
    }

    private static Object date(Object value) {
        if (value instanceof java.sql.Date day) {
            if (isInfinite(day)) {
                return day.getTime() > 0 ? Integer.MAX_VALUE : Integer.MIN_VALUE;
            }
            return isOld(day)
                    ? (int) wallClock(day, 0, TimeZone.getDefault()).toLocalDate().toEpochDay()
                    : Date.toEpochDay(day, null);
        }
        if (INFINITE_DATE.equals(value)) {
            return Integer.MAX_VALUE;
        }
        return MINUS_INFINITE_DATE.equals(value)
                ? (Object) Integer.MIN_VALUE
                : Date.toEpochDay(value, null);
    }

    private static Object timestamp(Object value) {
        java.sql.Timestamp at = (java.sql.Timestamp) value;
        if (isInfinite(at)) {
            return Conversions.toInstantFromMicros(at.getTime());
        }
        return isOld(at)
                ? wallClock(at, at.getNanos(), TimeZone.getDefault())
                : LocalDateTime.ofInstant(at.toInstant(), ZoneId.systemDefault());
    }

    private static Object instant(Object value, int width) {
        java.sql.Timestamp read = (java.sql.Timestamp) value;
        if (isInfinite(read)) {
            return read.getTime() > 0 ? "infinity" : "-infinity";
        }
        OffsetDateTime at =
                isOld(read)
                        ? wallClock(read, read.getNanos(), TimeZone.getTimeZone("UTC"))
                                .atOffset(ZoneOffset.UTC)
                        : read.toInstant().atOffset(ZoneOffset.UTC);
        return ZonedTimestamp.toIsoString(at.toZonedDateTime(), ZoneOffset.UTC, null, width);
    }

    private static boolean isOld(java.util.Date at) {
        return at.getTime() < SAME_CALENDAR && at.getTime() != MINUS_INFINITY;
    }

    private static boolean isInfinite(java.util.Date at) {
        return at.getTime() == INFINITY || at.getTime() == MINUS_INFINITY;
    }

    /** The date and time that PostgreSQL shows, of which the driver has made a Julian one. */
    private static LocalDateTime wallClock(java.util.Date at, int nanoseconds, TimeZone zone) {
        GregorianCalendar julian = new GregorianCalendar(zone);
        julian.setTime(at);
        int year = julian.get(Calendar.YEAR);
        boolean isBeforeChrist = julian.get(Calendar.ERA) == GregorianCalendar.BC;
        return LocalDate.of(
                        isBeforeChrist ? 1 - year : year,
                        julian.get(Calendar.MONTH) + 1,
                        julian.get(Calendar.DAY_OF_MONTH))
                .atTime(
                        julian.get(Calendar.HOUR_OF_DAY),
                        julian.get(Calendar.MINUTE),
                        julian.get(Calendar.SECOND),
                        nanoseconds);
    }
}
