package labctl;

import io.debezium.spi.converter.CustomConverter;
import io.debezium.spi.converter.RelationalColumn;
import java.nio.ByteBuffer;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Function;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;

/**
 * Sends PostgreSQL's arrays of several dimensions so that a reader puts the row aside.
 *
 * <p>Of arrays of numbers, booleans and bytes, Debezium sends NULL for each of
 * the inner arrays, which is an array that a row may have. All others arrive as from Debezium.
 *
 * <p>Such an array is sent as {@value #LENGTH} NULLs. The schema of the elements says by the parameter
 * {@code labctl.deep} that it may come.
 */
public final class DeepArrays implements CustomConverter<SchemaBuilder, RelationalColumn> {
    private static final String MAY_COME = "labctl.deep";
    private static final int LENGTH = 4099;
    /** The connector's own setting, which no converter sees. */
    private static final String BINARY_MODE = "binary.handling.mode";
    private static final String PLAIN = "bytes";
    private static final List<Object> DEEP = Collections.nCopies(LENGTH, null);

    /** How Debezium sends the elements of an array. */
    private record Element(Schema.Type type, Function<Object, Object> convert) {}

    private static final int BYTES_ARRAY = 1001;
    private static final Map<Integer, Element> ELEMENTS =
            Map.of(
                    1000, new Element(Schema.Type.BOOLEAN, one -> (Boolean) one),
                    BYTES_ARRAY, new Element(Schema.Type.BYTES, one -> ByteBuffer.wrap((byte[]) one)),
                    1005, new Element(Schema.Type.INT16, one -> ((Number) one).shortValue()),
                    1007, new Element(Schema.Type.INT32, one -> ((Number) one).intValue()),
                    1016, new Element(Schema.Type.INT64, one -> ((Number) one).longValue()),
                    1028, new Element(Schema.Type.INT64, one -> ((Number) one).longValue()),
                    1021, new Element(Schema.Type.FLOAT32, one -> ((Number) one).floatValue()),
                    1022, new Element(Schema.Type.FLOAT64, one -> ((Number) one).doubleValue()));

    private boolean hasPlainBytes;

    @Override
    public void configure(Properties properties) {
        hasPlainBytes = properties.getProperty(BINARY_MODE, PLAIN).equals(PLAIN);
    }

    @Override
    public void converterFor(
            RelationalColumn column, ConverterRegistration<SchemaBuilder> registration) {
        Element element = ELEMENTS.get(column.nativeType());
        if (element == null || column.nativeType() == BYTES_ARRAY && !hasPlainBytes) {
            return;
        }
        SchemaBuilder one =
                new SchemaBuilder(element.type)
                        .optional()
                        .parameter(MAY_COME, String.valueOf(LENGTH));
        registration.register(
                SchemaBuilder.array(one.build()), value -> sent(column, element, value));
    }

    private static Object sent(RelationalColumn column, Element element, Object value) {
        if (value == null) { // Also of a deleted row, of which the log has the key.
            return column.isOptional() ? null : List.of();
        }
        if (value instanceof List<?> sent) { // A column's default comes in the form that is sent.
            return sent;
        }
        List<Object> elements = new ArrayList<>();
        try {
            for (Object one : (Object[]) ((java.sql.Array) value).getArray()) {
                elements.add(one == null ? null : element.convert.apply(one));
            }
        } catch (SQLException | RuntimeException e) { // Of several dimensions, or not in the log.
            return DEEP;
        }
        return elements;
    }
}
