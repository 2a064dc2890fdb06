package io.debezium.connector.postgresql.connection;

import io.debezium.DebeziumException;
import io.debezium.connector.postgresql.connection.ReplicationMessage.Operation;
import java.util.Optional;

/**
 * Finds where a connector goes on after it ended in the middle of a transaction of PostgreSQL: at the
 * beginning of that transaction, so that no row is lost. Its rows that were sent before are sent again,
 * as all are that came after the last stored position.
 *
 * <p>Debezium 3.6's class of this name goes on behind the last row's position in the log. All rows that
 * COPY writes to one page have one position: those of the page that were not sent yet would never
 * arrive (debezium/dbz#1554). The jar with this class comes before Debezium's.
 *
 * <p>The server sends whole transactions in the order of their commits, and begins with the first that
 * was committed after the stored position.
 */
public class WalPositionLocator {
    private final Lsn lastCommit;
    private final Lsn lastEvent;
    private Lsn first;
    private Lsn begin;
    private Lsn start;
    /** The message that showed it. A later one is of a later transaction. */
    private Lsn shown;

    private boolean filters;

    /** Each position as it was stored; the first is null if no commit was seen yet. */
    public WalPositionLocator(Lsn lastCommit, Lsn lastEvent, Operation lastOperation) {
        this.lastCommit = lastCommit;
        this.lastEvent = lastEvent;
    }

    /** Debezium 3.7 calls this one. */
    public WalPositionLocator(
            Lsn lastCommit, Lsn lastEvent, Operation lastOperation, long eventsProcessed) {
        this(lastCommit, lastEvent, lastOperation);
    }

    /** No position is stored: nothing is searched. */
    public WalPositionLocator() {
        this(null, null, null);
    }

    /** Returns the position to go on at, as soon as a message has shown it. */
    public Optional<Lsn> resumeFromLsn(Lsn lsn, ReplicationMessage message) {
        shown = lsn;
        if (first == null) {
            first = lsn;
        }
        if (lastCommit == null || lastCommit.equals(lastEvent)) {
            // No transaction was sent in part.
            start = first;
        } else if (message.getOperation() == Operation.BEGIN) {
            begin = lsn;
        } else if (message.getOperation() == Operation.COMMIT && lsn.compareTo(lastCommit) > 0) {
            start = begin == null ? first : begin;
        }
        return Optional.ofNullable(start);
    }

    /** Returns whether a message lies before the position that was found. */
    public boolean skipMessage(Lsn lsn) {
        if (!filters) {
            return false;
        }
        if (start == null || start.equals(lsn)) {
            filters = false;
            return false;
        }
        if (lsn.compareTo(shown) > 0) {
            throw new DebeziumException(
                    "The log went on at %s; rows from %s on are missing".formatted(lsn, start));
        }
        return true;
    }

    /** Begins to leave out what lies before the position that was found. */
    public void enableFiltering() {
        filters = true;
    }

    /** Returns whether there is a stored position to search. */
    public boolean searchingEnabled() {
        return lastEvent != null;
    }

    /** Returns the position of the last message that was sent. */
    public Lsn getLastEventStoredLsn() {
        return lastEvent;
    }

    /** Returns the position of the last commit that was seen. */
    public Lsn getLastCommitStoredLsn() {
        return lastCommit;
    }

    @Override
    public String toString() {
        return "WalPositionLocator[commit %s, event %s, start %s]"
                .formatted(lastCommit, lastEvent, start);
    }
}
