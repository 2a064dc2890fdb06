package labctl;

import io.debezium.data.SpecialValueDecimal;
import io.debezium.data.VariableScaleDecimal;
import io.debezium.jdbc.JdbcValueConverters.DecimalMode;
import io.debezium.spi.converter.CustomConverter;
import io.debezium.spi.converter.RelationalColumn;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;

/**
 * Sends numbers that a column's type in its topic cannot hold as ones that no such column can hold, so
 * that a reader puts the row aside.
 *
 * <p>With PostgreSQL, these are NaN and the infinities. Debezium sends NULL for them, for a whole array
 * that has one, and for each element of an array of several dimensions.
 *
 * <p>With SQL Server, these are numbers of more digits than a column had when its capture instance was
 * made. ALTER COLUMN gives the rows in the change table the new type, also those that were written
 * before, while Debezium keeps the old one until there is a newer instance. It then ends with an error
 * at each number whose scale is not the old one; here, one that is equal in the old scale gets it.
 *
 * <p>All other values are as with {@code decimal.handling.mode=precise}. In a column of p digits, such a number is one with p + 1 digits: the first tells what it stands
 * for, the others are 0. The column's schema says by the parameter {@code labctl.special} that it may
 * come. Where no size is declared, it has no bytes, and its scale tells what it stands for.
 */
public final class SpecialNumbers implements CustomConverter<SchemaBuilder, RelationalColumn> {
    private static final String MAY_COME = "labctl.special";
    private static final int NUMERIC = 1700;
    private static final int NUMERIC_ARRAY = 1231;
    /** Types of SQL Server, which tells no native type: the last two are smallmoney and money. */
    private static final Set<Integer> EXACT = Set.of(Types.NUMERIC, Types.DECIMAL, -146, -148);

    /** The length that PostgreSQL's driver shows where none is declared. */
    private static final int UNDECLARED = 131089;

    private static final int NOT_A_NUMBER = 1;
    private static final int INFINITY = 2;
    private static final int MINUS_INFINITY = 3;
    /** Debezium has no value, or one that the column's schema has no form for. */
    private static final int UNKNOWN = 4;
    private static final int TOO_LONG = 5;

    @Override
    public void configure(Properties properties) {}

    @Override
    public void converterFor(
            RelationalColumn column, ConverterRegistration<SchemaBuilder> registration) {
        Size size = new Size(column);
        if (!size.isUsual()) { // Debezium's own form of it: labctl leaves such a column out.
            return;
        }
        boolean isOfSqlServer = column.nativeType() < 0 && EXACT.contains(column.jdbcType());
        if (column.nativeType() == NUMERIC || isOfSqlServer) {
            registration.register(size.schema, value -> number(column, size, value));
        } else if (column.nativeType() == NUMERIC_ARRAY) {
            Schema element = size.schema.optional().build();
            registration.register(
                    SchemaBuilder.array(element), value -> array(column, size, value));
        }
    }

    private static Object number(RelationalColumn column, Size size, Object value) {
        if (value == null && !column.isOptional()) { // A deleted row, of which the log has the key.
            return column.defaultValue() != null ? column.defaultValue() : size.of(BigDecimal.ZERO);
        }
        return value == null ? null : sent(size, value);
    }

    private static Object array(RelationalColumn column, Size size, Object value) {
        if (value == null) {
            return column.isOptional() ? null : List.of();
        }
        // The driver reads no array with NaN as numbers. As text, numbers are never quoted.
        String text = value instanceof java.sql.Array ? value.toString() : "{{";
        String elements = text.substring(text.indexOf('{') + 1, text.length() - 1);
        List<Object> numbers = new ArrayList<>();
        if (elements.contains("{")) {
            numbers.add(size.special(UNKNOWN));
        } else if (!elements.isEmpty()) {
            for (String element : elements.split(",")) {
                numbers.add(element.equals("NULL") ? null : sent(size, element));
            }
        }
        return numbers;
    }

    private static Object sent(Size size, Object value) {
        if (SpecialValueDecimal.NOT_A_NUMBER.equals(value) || "NaN".equals(value)) {
            return size.special(NOT_A_NUMBER);
        }
        if (SpecialValueDecimal.POSITIVE_INF.equals(value) || "Infinity".equals(value)) {
            return size.special(INFINITY);
        }
        if (SpecialValueDecimal.NEGATIVE_INF.equals(value) || "-Infinity".equals(value)) {
            return size.special(MINUS_INFINITY);
        }
        Object plain = value instanceof SpecialValueDecimal some ? some.getWrappedValue() : value;
        try {
            return size.of(
                    plain instanceof BigDecimal number ? number : new BigDecimal((String) plain));
        } catch (ArithmeticException e) {
            return size.special(TOO_LONG);
        } catch (ClassCastException | NumberFormatException e) {
            return size.special(UNKNOWN);
        }
    }

    /** A column's declared size, and the form that Debezium gives its numbers. */
    private static final class Size {
        private final int digits;
        private final int scale;
        private final boolean isDeclared;
        private final SchemaBuilder schema;
        private Schema struct;

        Size(RelationalColumn column) {
            digits = column.length().orElse(0);
            scale = column.scale().orElse(0);
            isDeclared = (digits != 0 && digits != UNDECLARED) || scale != 0;
            schema =
                    isDeclared
                            ? SpecialValueDecimal.builder(DecimalMode.PRECISE, digits, scale)
                                    .parameter(MAY_COME, "true")
                            : VariableScaleDecimal.builder();
        }

        /** Whether its digits are on both sides of the point, or on one: PostgreSQL has others. */
        boolean isUsual() {
            return !isDeclared || scale >= 0 && scale <= digits;
        }

        Object of(BigDecimal number) {
            if (isDeclared) {
                return number.setScale(scale);
            }
            BigDecimal shortest = number.stripTrailingZeros();
            return VariableScaleDecimal.fromLogical(
                    struct(), shortest.scale() < 0 ? shortest.setScale(0) : shortest);
        }

        Object special(int what) {
            if (isDeclared) {
                BigInteger first = BigInteger.valueOf(what);
                return new BigDecimal(first.multiply(BigInteger.TEN.pow(digits)), scale);
            }
            return new Struct(struct())
                    .put(VariableScaleDecimal.VALUE_FIELD, new byte[0])
                    .put(VariableScaleDecimal.SCALE_FIELD, what);
        }

        /** The schema as it is when Debezium has added to it what it knows of the column. */
        private Schema struct() {
            if (struct == null) {
                struct = schema.build();
            }
            return struct;
        }
    }
}
