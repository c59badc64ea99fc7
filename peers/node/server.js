// A TLS 1.3 server over Node's tls module (OpenSSL inside) that echoes application data.
// usage: node server.js --listen ADDR:PORT --cert FILE --key FILE [--groups A:B] [--workers N]
//                       [--handshake-timeout MS]
'use strict';
const cluster = require('node:cluster');
const fs = require('node:fs');
const tls = require('node:tls');
const { parseArgs } = require('node:util');

const { values: options } = parseArgs({
  options: {
    listen: { type: 'string' },
    cert: { type: 'string' },
    key: { type: 'string' },
    groups: { type: 'string', default: 'auto' },
    workers: { type: 'string', default: '1' },
    'handshake-timeout': { type: 'string', default: '0' },
  },
});
for (const name of ['listen', 'cert', 'key']) {
  if (options[name] === undefined) {
    console.error(`server.js: --${name} is needed`);
    process.exit(1);
  }
}

function serve() {
  const server = tls.createServer({
    cert: fs.readFileSync(options.cert),
    key: fs.readFileSync(options.key),
    ecdhCurve: options.groups,
    minVersion: 'TLSv1.3',
    handshakeTimeout: Number(options['handshake-timeout']) || undefined,
  });
  server.on('secureConnection', (socket) => {
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  // How a client ends a connection is its own affair.
  server.on('tlsClientError', () => {});
  const colon = options.listen.lastIndexOf(':');
  server.listen({ host: options.listen.slice(0, colon), port: Number(options.listen.slice(colon + 1)), backlog: 4096 });
}

const workers = Number(options.workers);
if (workers > 1 && cluster.isPrimary) {
  for (let i = 0; i < workers; i++) cluster.fork();
} else {
  serve();
}
