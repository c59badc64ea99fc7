// A TLS 1.3 server over Java's SSLSocket that echoes application data: a virtual thread for each
// connection, on as many carrier threads as jdk.virtualThreadScheduler.parallelism says.
// usage: java Server.java ADDR:PORT CHAIN.pem KEY.pem [GROUP:GROUP [HANDSHAKE-TIMEOUT-MS]]

import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

public final class Server {
    private static PrivateKey readKey(Path file, String algorithm) throws Exception {
        String base64 = Files.readString(file).replaceAll("-----[A-Z ]*-----", "").replaceAll("\\s", "");
        var specification = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(base64));
        return KeyFactory.getInstance(algorithm).generatePrivate(specification);
    }

    private static SSLContext context(Path chain, Path key) throws Exception {
        Certificate[] certificates;
        try (InputStream in = Files.newInputStream(chain)) {
            certificates = CertificateFactory.getInstance("X.509").generateCertificates(in).toArray(new Certificate[0]);
        }
        char[] none = new char[0];
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, none);
        store.setKeyEntry("server", readKey(key, certificates[0].getPublicKey().getAlgorithm()), none, certificates);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, none);
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(keys.getKeyManagers(), null, null);
        return context;
    }

    private static void converse(SSLSocket socket, int timeout) {
        try (socket) {
            socket.setSoTimeout(timeout);
            socket.startHandshake();
            socket.getInputStream().transferTo(socket.getOutputStream());
        } catch (Exception ended) {
            // How a client ends a connection is its own affair.
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 3) {
            System.err.println("usage: java Server.java ADDR:PORT CHAIN.pem KEY.pem [GROUP:GROUP [HANDSHAKE-TIMEOUT-MS]]");
            System.exit(1);
        }
        int colon = arguments[0].lastIndexOf(':');
        int asked = arguments.length > 4 ? Integer.parseInt(arguments[4]) : 0, limit = asked > 0 ? asked : 10_000;
        SSLContext context = context(Path.of(arguments[1]), Path.of(arguments[2]));
        try (var listener = (SSLServerSocket) context.getServerSocketFactory().createServerSocket()) {
            SSLParameters parameters = listener.getSSLParameters();
            parameters.setProtocols(new String[] {"TLSv1.3"});
            if (arguments.length > 3) parameters.setNamedGroups(arguments[3].split(":"));
            listener.setSSLParameters(parameters);
            listener.bind(new InetSocketAddress(InetAddress.getByName(arguments[0].substring(0, colon)),
                    Integer.parseInt(arguments[0].substring(colon + 1))), 4096);
            while (true) {
                SSLSocket socket = (SSLSocket) listener.accept();
                Thread.ofVirtual().start(() -> converse(socket, limit));
            }
        }
    }
}
