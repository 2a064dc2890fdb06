import java.util.List;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.athena.AthenaClient;
import software.amazon.awssdk.services.athena.model.GetQueryResultsResponse;
import software.amazon.awssdk.services.athena.model.QueryExecutionState;
import software.amazon.awssdk.services.athena.model.QueryExecutionStatus;
import software.amazon.awssdk.services.athena.model.Row;
import software.amazon.awssdk.services.glue.GlueClient;

/** Asks statements and prints their rows, then the tables of the database. */
public final class Ask {
    public static void main(String[] arguments) throws InterruptedException {
        String database = arguments[0];
        int pageSize = Integer.parseInt(arguments[1]);
        try (AthenaClient athena = AthenaClient.create()) {
            for (String sql : List.of(arguments).subList(2, arguments.length)) {
                ask(athena, database, sql, pageSize);
            }
        }
        try (GlueClient glue = GlueClient.create()) {
            List<String> names = glue.getTablesPaginator(request -> request.databaseName(database))
                .stream().flatMap(page -> page.tableList().stream())
                .map(table -> table.name()).toList();
            System.out.println("tables " + String.join(",", names));
        }
    }

    private static void ask(AthenaClient athena, String database, String sql, int pageSize)
            throws InterruptedException {
        String id = athena.startQueryExecution(request -> request
                .queryString(sql)
                .queryExecutionContext(context -> context.database(database)))
            .queryExecutionId();
        QueryExecutionStatus status = ended(athena, id);
        System.out.println(status.state() + " " + status.stateChangeReason());
        if (status.state() != QueryExecutionState.SUCCEEDED) {
            return;
        }
        int pages = 0;
        for (GetQueryResultsResponse page : athena.getQueryResultsPaginator(
                request -> request.queryExecutionId(id).maxResults(pageSize))) {
            pages++;
            for (Row row : page.resultSet().rows()) {
                System.out.println("row " + row.data().stream()
                    .map(datum -> String.valueOf(datum.varCharValue()))
                    .collect(Collectors.joining("|")));
            }
        }
        System.out.println("pages " + pages);
    }

    private static QueryExecutionStatus ended(AthenaClient athena, String id)
            throws InterruptedException {
        while (true) {
            QueryExecutionStatus status = athena
                .getQueryExecution(request -> request.queryExecutionId(id))
                .queryExecution().status();
            if (status.state() != QueryExecutionState.QUEUED
                    && status.state() != QueryExecutionState.RUNNING) {
                return status;
            }
            Thread.sleep(50);
        }
    }

    private Ask() {}
}
