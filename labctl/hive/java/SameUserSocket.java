package labctl;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransportException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes connections of this process's own user on loopback, and of root.
 *
 * <p>The metastore knows no passwords, and every user of a machine reaches its loopback. Linux says
 * who has the other end of a connection.
 */
final class SameUserSocket extends TServerSocket {
    private static final Logger LOG = LoggerFactory.getLogger(SameUserSocket.class);
    private static final List<Path> CONNECTIONS =
            List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));
    /** What comes before an IPv4 address in the table of IPv6 connections: Java opens such. */
    private static final String MAPPED = "^0000000000000000FFFF0000";

    private static final String ESTABLISHED = "01";
    private static final int ROOT = 0;

    private final int user;

    SameUserSocket(InetSocketAddress address) throws TTransportException, IOException {
        super(address);
        user = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }

    @Override
    protected TSocket acceptImpl() throws TTransportException {
        while (true) {
            TSocket accepted = super.acceptImpl();
            int owner = owner(accepted.getSocket());
            if (owner == user || owner == ROOT) {
                return accepted;
            }
            LOG.warn("A connection of user {} was refused", owner);
            accepted.close();
        }
    }

    /** The user id that has the client's end of an open connection; -1 where there is none. */
    private static int owner(Socket socket) {
        String client = written(socket.getInetAddress(), socket.getPort());
        String server = written(socket.getLocalAddress(), socket.getLocalPort());
        for (Path table : CONNECTIONS) {
            try {
                for (String line : Files.readAllLines(table)) {
                    String[] fields = line.trim().split("\\s+");
                    // An end that its user has closed already is said to be root's.
                    if (fields[1].replaceFirst(MAPPED, "").equals(client)
                            && fields[2].replaceFirst(MAPPED, "").equals(server)
                            && fields[3].equals(ESTABLISHED)) {
                        return Integer.parseInt(fields[7]);
                    }
                }
            } catch (NoSuchFileException e) {
                continue; // A machine without IPv6.
            } catch (IOException e) {
                LOG.warn("Whose connection it is cannot be told: {}", e.toString());
            }
        }
        return -1;
    }

    /** An IPv4 address and a port, as the kernel's tables write them. */
    private static String written(InetAddress address, int port) {
        int number = ByteBuffer.wrap(address.getAddress()).order(ByteOrder.nativeOrder()).getInt();
        return String.format("%08X:%04X", number, port);
    }
}
