// A TLS 1.3 server over .NET's SslStream that echoes application data: an asynchronous conversation
// for each connection.
// usage: server ADDR:PORT CHAIN.pem KEY.pem
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

if (args.Length != 3) {
    Console.Error.WriteLine("usage: server ADDR:PORT CHAIN.pem KEY.pem");
    return 1;
}
var leaf = X509Certificate2.CreateFromPemFile(args[1], args[2]);
var chain = new X509Certificate2Collection();
chain.ImportFromPemFile(args[1]);
chain.RemoveAt(0);
var options = new SslServerAuthenticationOptions {
    EnabledSslProtocols = SslProtocols.Tls13,
    ServerCertificateContext = SslStreamCertificateContext.Create(leaf, chain, offline: true),
};
var listener = new TcpListener(IPEndPoint.Parse(args[0]));
listener.Start(4096);
while (true)
    _ = Converse(await listener.AcceptSocketAsync(), options);

static async Task Converse(Socket socket, SslServerAuthenticationOptions options) {
    try {
        await using var stream = new SslStream(new NetworkStream(socket, ownsSocket: true));
        await stream.AuthenticateAsServerAsync(options);
        await stream.CopyToAsync(stream);
    } catch (Exception) {
        // How a client ends a connection is its own affair.
    }
}
