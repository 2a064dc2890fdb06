package labctl;

import io.debezium.spi.converter.CustomConverter;
import io.debezium.spi.converter.RelationalColumn;
import io.debezium.time.Date;
import io.debezium.time.MicroTimestamp;
import io.debezium.time.Timestamp;
import io.debezium.time.Year;
import io.debezium.time.ZonedTimestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.GregorianCalendar;
import java.util.Locale;
import java.util.Properties;
import java.util.function.Function;
import org.apache.kafka.connect.data.SchemaBuilder;

/**
 * Sends MySQL's zero dates ({@code 0000-00-00}, {@code 2024-00-10}) as NULL, and the year 0 as 0.
 *
 * <p>Debezium sends 1970-01-01 where such a column is NOT NULL, shifts the years 1 to 99 to 1970 and
 * later, and sends the year 0 as 1900 or 2000. Therefore the columns' schemas are always optional. All
 * other values are as with {@code time.precision.mode=adaptive_time_microseconds}.
 *
 * <p>A column's default, which Debezium gives in the form it sends, says nothing about a row and is left
 * out: a reader must not take it for the zero date.
 */
public final class ZeroDates implements CustomConverter<SchemaBuilder, RelationalColumn> {
    private static final int MILLISECONDS = 3;
    private static final int FIRST_YEAR = 1901;
    private static final int LAST_YEAR = 2155;

    @Override
    public void configure(Properties properties) {}

    @Override
    public void converterFor(
            RelationalColumn column, ConverterRegistration<SchemaBuilder> registration) {
        int digits = column.length().orElse(0);
        switch (column.typeName().toUpperCase(Locale.ROOT)) {
            case "DATE" -> registration.register(Date.builder().optional(), ZeroDates::date);
            case "DATETIME" -> {
                boolean isShort = digits <= MILLISECONDS;
                SchemaBuilder schema = isShort ? Timestamp.builder() : MicroTimestamp.builder();
                Function<LocalDateTime, Object> number =
                        isShort
                                ? at -> Timestamp.toEpochMillis(at, null)
                                : at -> MicroTimestamp.toEpochMicros(at, null);
                registration.register(schema.optional(), value -> datetime(value, number));
            }
            case "TIMESTAMP" ->
                    registration.register(
                            ZonedTimestamp.builder().optional(), value -> instant(value, digits));
            case "YEAR" -> registration.register(Year.builder(), ZeroDates::year);
            default -> {}
        }
    }

    private static Object date(Object value) {
        if (value instanceof LocalDate date) {
            // By the server's binary protocol, the zero date of a NOT NULL column is this object itself.
            // A date that was read is another object, also where it is the same day.
            boolean isZero = date == LocalDate.EPOCH || date.getYear() == 0;
            return isZero ? null : Date.toEpochDay(date, null);
        }
        return nothing(value);
    }

    private static Object datetime(Object value, Function<LocalDateTime, Object> number) {
        if (value instanceof java.sql.Timestamp at) { // The first load reads the driver's timestamps.
            return isBeforeYearOne(at) ? null : number.apply(at.toLocalDateTime());
        }
        if (value instanceof LocalDateTime at) {
            return at.getYear() == 0 ? null : number.apply(at);
        }
        return nothing(value);
    }

    private static Object instant(Object value, int digits) {
        if (value instanceof java.sql.Timestamp || value instanceof ZonedDateTime) {
            // MySQL's timestamps begin one second later: in the log this instant is the zero date.
            boolean isZero = value instanceof ZonedDateTime at && at.toEpochSecond() == 0;
            return isZero ? null : ZonedTimestamp.toIsoString(value, ZoneOffset.UTC, null, digits);
        }
        return nothing(value);
    }

    /** Such a timestamp has the year 0, which its calendar calls 1 BC and shows as the year 1. */
    private static boolean isBeforeYearOne(java.sql.Timestamp at) {
        GregorianCalendar calendar = new GregorianCalendar();
        calendar.setTime(at);
        return calendar.get(Calendar.ERA) == GregorianCalendar.BC;
    }

    private static Object year(Object value) {
        if (value == null) {
            return null;
        }
        if (!(value instanceof java.time.Year || value instanceof Number)) {
            throw new IllegalArgumentException(
                    "The driver shows the year 0 as 2000: set driver.yearIsDateType to false");
        }
        int year = value instanceof Number read ? read.intValue() : ((java.time.Year) value).getValue();
        return FIRST_YEAR <= year && year <= LAST_YEAR ? year : 0;
    }

    /** Return NULL for NULL and for a default in the form that is sent; raise for anything else. */
    private static Object nothing(Object value) {
        if (value == null
                || value instanceof Integer
                || value instanceof Long
                || value instanceof String) {
            return null;
        }
        throw new IllegalArgumentException("Unexpected value of " + value.getClass().getName());
    }
}
