package labctl;

import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HiveMetaStore.HMSHandler;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.TUGIBasedProcessor;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.hive.metastore.security.TUGIContainingTransport;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;

/**
 * Hive's metastore at one address: {@code Metastore HOST PORT anyone|same-user}.
 *
 * <p>Hive's own program of this version listens on every address of the machine.
 */
public final class Metastore {
    private static final int MOST_CLIENTS = 200;
    /** Bytes of a text, and entries of a list, that are believed before they have come. */
    private static final long LONGEST = 16 << 20;

    private Metastore() {}

    public static void main(String[] arguments) {
        var address = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        try {
            serve(address, arguments[2].equals("same-user"));
        } catch (Throwable e) {
            e.printStackTrace();
            // Threads of Hive's own would keep a process that serves nobody.
            System.exit(1);
        }
    }

    private static void serve(InetSocketAddress address, boolean sameUser) throws Exception {
        Configuration settings = MetastoreConf.newMetastoreConf();
        IHMSHandler handler =
                RetryingHMSHandler.getProxy(
                        settings, new HMSHandler("metastore", settings, false), false);
        TServerSocket socket =
                sameUser ? new SameUserSocket(address) : new TServerSocket(address);
        new TThreadPoolServer(
                        new TThreadPoolServer.Args(socket)
                                .processor(new TUGIBasedProcessor<>(handler))
                                .transportFactory(new TUGIContainingTransport.Factory())
                                // Strict: the first bytes of a request by HTTP, which a web page
                                // can send here as this user, are no length.
                                .protocolFactory(
                                        new TBinaryProtocol.Factory(true, true, LONGEST, LONGEST))
                                .maxWorkerThreads(MOST_CLIENTS))
                .serve();
    }
}
