package labctl;

import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.Schema;

/** A column's type as it is, but for NULL: that is a value of its own, and no default stands for it. */
final class NullableColumn {
    private NullableColumn() {}

    static Schema of(Schema column) {
        Schema.Type type = column.type();
        return new ConnectSchema(
                type,
                true,
                null,
                column.name(),
                column.version(),
                column.doc(),
                column.parameters(),
                type == Schema.Type.STRUCT ? column.fields() : null,
                type == Schema.Type.MAP ? column.keySchema() : null,
                type == Schema.Type.MAP || type == Schema.Type.ARRAY ? column.valueSchema() : null);
    }
}
