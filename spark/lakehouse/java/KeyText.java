package lakehouse;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import org.apache.avro.generic.GenericRecord;
import org.apache.hudi.avro.HoodieAvroUtils;
import org.apache.hudi.exception.HoodieKeyException;

/**
 * The text that a table has of a row's key: for each key another one.
 *
 * <p>Hudi writes the value of a single column, and {@code a:x,b:y} of several. So does this, but for
 * values that would be taken for something else. They are {@code __escaped__} and the value, with
 * {@code %25}, {@code %2C} and {@code %3A} for its {@code %}, {@code ,} and {@code :}. These are:
 *
 * <ul>
 *   <li>one with a comma and a colon: another column could begin there, and of some of them Hudi's
 *       bucket index never finds the end;
 *   <li>one that begins with {@code __escaped__};
 *   <li>of several columns, Hudi's words for null and for an empty text;
 *   <li>of a single one, an empty text, which Hudi refuses.
 * </ul>
 */
final class KeyText {
    private static final String ESCAPED = "__escaped__";
    private static final String NULL = "__null__";
    private static final String EMPTY = "__empty__";

    private KeyText() {}

    /** The text of a single column's value. */
    static String alone(String column, Object value) {
        if (value == null) {
            throw new HoodieKeyException("The record key " + column + " is null");
        }
        String text = text(value);
        return text.isEmpty() ? ESCAPED : escapedWhereNeeded(text);
    }

    /** The text of several columns' values; also of one, where Hudi writes the column's name. */
    static String named(List<String> columns, Object[] values) {
        boolean isNull = true;
        StringBuilder key = new StringBuilder();
        for (int i = 0; i < values.length; i++) {
            isNull &= values[i] == null;
            key.append(i == 0 ? "" : ",").append(columns.get(i)).append(':').append(part(values[i]));
        }
        if (isNull) {
            throw new HoodieKeyException("The record key " + String.join(", ", columns) + " is null");
        }
        return key.toString();
    }

    /** The values of a record's key, as Hudi takes them out of it. */
    static Object[] values(GenericRecord row, List<String> columns, boolean consistentTimes) {
        return columns.stream()
                .map(column -> HoodieAvroUtils.getNestedFieldVal(row, column, true, consistentTimes))
                .toArray();
    }

    private static String part(Object value) {
        if (value == null) {
            return NULL;
        }
        String text = text(value);
        if (text.isEmpty()) {
            return EMPTY;
        }
        return text.equals(NULL) || text.equals(EMPTY) ? escaped(text) : escapedWhereNeeded(text);
    }

    private static String escapedWhereNeeded(String text) {
        boolean needed = text.startsWith(ESCAPED) || text.indexOf(',') >= 0 && text.indexOf(':') >= 0;
        return needed ? escaped(text) : text;
    }

    private static String escaped(String text) {
        return ESCAPED + text.replace("%", "%25").replace(",", "%2C").replace(":", "%3A");
    }

    private static String text(Object value) {
        if (value instanceof ByteBuffer bytes) {
            byte[] content = new byte[bytes.remaining()];
            bytes.duplicate().get(content);
            return HexFormat.of().formatHex(content);
        }
        return value.toString();
    }
}
