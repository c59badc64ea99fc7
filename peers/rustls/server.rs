//! A TLS 1.3 server over rustls that echoes application data. It prints the address it listens on, and
//! at its end (SIGTERM or SIGINT) what it counted, both as JSON. Every worker is a thread with an event
//! loop of its own; all accept from one socket.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use rustls::crypto::aws_lc_rs::{self, kx_group};
use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{CipherSuite, HandshakeKind, ServerConfig, ServerConnection};

const BACKLOG: libc::c_int = 4096;
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
const SWEEP: Duration = Duration::from_secs(1);
const DRAIN_LIMIT: Duration = Duration::from_secs(1);
const LISTENER: Token = Token(usize::MAX);

/// Groups by the names of the registry.
const GROUPS: [(&str, &dyn SupportedKxGroup); 7] = [
    ("X25519", kx_group::X25519),
    ("secp256r1", kx_group::SECP256R1),
    ("secp384r1", kx_group::SECP384R1),
    ("X25519MLKEM768", kx_group::X25519MLKEM768),
    ("SecP256r1MLKEM768", kx_group::SECP256R1MLKEM768),
    ("MLKEM768", kx_group::MLKEM768),
    ("MLKEM1024", kx_group::MLKEM1024),
];

/// As the build found them.
const VERSION: &str = concat!("rustls ", env!("RUSTLS_VERSION"), ", aws-lc-rs ", env!("AWS_LC_RS_VERSION"));

const USAGE: &str = "usage: server --cert FILE --key FILE [--listen ADDR:PORT] [--groups A:B] [--alpn NAME]
              [--tickets N] [--workers N]
  --listen ADDR:PORT  port 0 takes a free one (default 127.0.0.1:0)
  --groups A:B        groups in order (default: those of rustls)
  --tickets N         after a full handshake (default 2)
  --workers N         threads (default 1)";

// ---- options

struct Options {
    listen: String,
    cert: String,
    key: String,
    groups: String,
    alpn: String,
    tickets: usize,
    workers: usize,
}

fn number(name: &str, text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| format!("{name}: '{text}': not a number"))
}

fn parse_options(words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        listen: "127.0.0.1:0".into(),
        cert: String::new(),
        key: String::new(),
        groups: String::new(),
        alpn: String::new(),
        tickets: 2,
        workers: 1,
    };
    let mut words = words.skip(1);
    while let Some(name) = words.next() {
        if name == "--version" {
            println!("{VERSION}");
            std::process::exit(0);
        }
        let value = words
            .next()
            .ok_or_else(|| format!("{name}: a value is needed\n{USAGE}"))?;
        match name.as_str() {
            "--listen" => options.listen = value,
            "--cert" => options.cert = value,
            "--key" => options.key = value,
            "--groups" => options.groups = value,
            "--alpn" => options.alpn = value,
            "--tickets" => options.tickets = number(&name, &value)?,
            "--workers" => options.workers = number(&name, &value)?.max(1),
            _ => return Err(format!("{name}: unknown\n{USAGE}")),
        }
    }
    if options.cert.is_empty() || options.key.is_empty() {
        return Err(format!("--cert and --key are needed\n{USAGE}"));
    }
    Ok(options)
}

fn groups(names: &str) -> Result<Vec<&'static dyn SupportedKxGroup>, String> {
    if names.is_empty() {
        return Ok(aws_lc_rs::default_provider().kx_groups);
    }
    names
        .split(':')
        .map(|wanted| {
            GROUPS
                .iter()
                .find(|(name, _)| *name == wanted)
                .map(|(_, group)| *group)
                .ok_or_else(|| format!("--groups: '{wanted}': rustls has no such group"))
        })
        .collect()
}

fn config(options: &Options) -> Result<ServerConfig, String> {
    let in_file = |name: &str, error: &dyn std::fmt::Display| format!("'{name}': {error}");
    let chain = CertificateDer::pem_file_iter(&options.cert)
        .and_then(|certificates| certificates.collect::<Result<Vec<_>, _>>())
        .map_err(|error| in_file(&options.cert, &error))?;
    let key = PrivateKeyDer::from_pem_file(&options.key)
        .map_err(|error| in_file(&options.key, &error))?;
    let provider = CryptoProvider {
        kx_groups: groups(&options.groups)?,
        ..aws_lc_rs::default_provider()
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| in_file(&options.key, &error))?;
    config.send_tls13_tickets = options.tickets;
    if options.tickets > 0 {
        config.ticketer = aws_lc_rs::Ticketer::new().map_err(|error| error.to_string())?;
    }
    if !options.alpn.is_empty() {
        config.alpn_protocols = vec![options.alpn.clone().into_bytes()];
    }
    Ok(config)
}

// ---- what is counted

#[derive(Default)]
struct Counts {
    open: u64,
    handshakes: u64,
    resumed: u64,
    hello_retries: u64,
    groups: BTreeMap<u16, u64>,
    ciphers: BTreeMap<u16, u64>,
    failures: BTreeMap<String, u64>,
}

impl Counts {
    fn completed(&mut self, tls: &ServerConnection) {
        self.handshakes += 1;
        match tls.handshake_kind() {
            Some(HandshakeKind::Resumed) => self.resumed += 1,
            Some(HandshakeKind::FullWithHelloRetryRequest) => self.hello_retries += 1,
            _ => {}
        }
        if let Some(group) = tls.negotiated_key_exchange_group() {
            *self.groups.entry(group.name().into()).or_default() += 1;
        }
        if let Some(suite) = tls.negotiated_cipher_suite() {
            *self.ciphers.entry(suite.suite().into()).or_default() += 1;
        }
    }

    fn failed(&mut self, reason: String) {
        *self.failures.entry(reason).or_default() += 1;
    }

    fn document(&self) -> String {
        format!(
            r#"{{"handshakes":{},"resumed":{},"hello_retry_requests":{},"groups":{},"ciphers":{},"failed":{}}}"#,
            self.handshakes,
            self.resumed,
            self.hello_retries,
            object(self.groups.iter().map(|(id, count)| (group_name(*id), *count))),
            object(self.ciphers.iter().map(|(id, count)| (cipher_name(*id), *count))),
            object(self.failures.iter().map(|(reason, count)| (reason.clone(), *count))),
        )
    }
}

fn group_name(id: u16) -> String {
    GROUPS
        .iter()
        .find(|(_, group)| u16::from(group.name()) == id)
        .map_or_else(|| format!("{id:#06x}"), |(name, _)| name.to_string())
}

/// rustls says TLS13_ where the registry says TLS_.
fn cipher_name(id: u16) -> String {
    format!("{:?}", CipherSuite::from(id)).replacen("TLS13_", "TLS_", 1)
}

fn object(members: impl Iterator<Item = (String, u64)>) -> String {
    let members: Vec<_> = members
        .map(|(name, count)| format!("{}:{count}", quoted(&name)))
        .collect();
    format!("{{{}}}", members.join(","))
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

// ---- connections

struct Connection {
    socket: TcpStream,
    tls: ServerConnection,
    since: Instant,
    finished: bool, // the handshake is, and was counted
    writes: bool,   // it waits until the socket takes more
}

enum Next {
    Stay,
    End(Option<String>), // with what went wrong in the handshake
}

impl Connection {
    fn advance(&mut self, counts: &Mutex<Counts>) -> Next {
        loop {
            match self.tls.read_tls(&mut self.socket) {
                Ok(0) => return self.ended("the client ended it"),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.flush(),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return self.ended(&error.to_string()),
            }
            if let Err(error) = self.take(counts) {
                let _ = self.flush(); // the alert
                return self.ended(&error);
            }
            if let Next::End(reason) = self.flush() {
                return Next::End(reason);
            }
        }
    }

    /// What was read: a part of the handshake, or data to echo.
    fn take(&mut self, counts: &Mutex<Counts>) -> Result<(), String> {
        let state = self
            .tls
            .process_new_packets()
            .map_err(|error| error.to_string())?;
        if !self.finished && !self.tls.is_handshaking() {
            self.finished = true;
            locked(counts).completed(&self.tls);
        }
        if state.plaintext_bytes_to_read() > 0 {
            let mut data = vec![0; state.plaintext_bytes_to_read()];
            let echoed = self
                .tls
                .reader()
                .read_exact(&mut data)
                .and_then(|()| self.tls.writer().write_all(&data));
            echoed.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Next {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return self.ended(&error.to_string()),
            }
        }
        Next::Stay
    }

    /// How a client ends a connection after the handshake is its own affair.
    fn ended(&self, reason: &str) -> Next {
        Next::End((!self.finished).then(|| reason.to_string()))
    }
}

fn locked(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().expect("no thread panics with the counts")
}

// ---- a worker

struct Worker {
    poll: Poll,
    listener: TcpListener,
    config: Arc<ServerConfig>,
    counts: Arc<Mutex<Counts>>,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
}

impl Worker {
    fn run(mut self) -> Result<(), String> {
        let mut events = Events::with_capacity(256);
        let mut swept = Instant::now();
        loop {
            match self.poll.poll(&mut events, Some(SWEEP)) {
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    return Err(format!("poll: {error}"))
                }
                _ => {}
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept()?,
                    Token(slot) => self.advance(slot)?,
                }
            }
            if swept.elapsed() >= SWEEP {
                swept = Instant::now();
                self.sweep();
            }
        }
    }

    fn accept(&mut self) -> Result<(), String> {
        loop {
            match self.listener.accept() {
                Ok((socket, _)) => self.open(socket)?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) => return Err(format!("accept: {error}")),
            }
        }
    }

    fn open(&mut self, mut socket: TcpStream) -> Result<(), String> {
        let slot = self.free.pop().unwrap_or(self.connections.len());
        if slot == self.connections.len() {
            self.connections.push(None);
        }
        let _ = socket.set_nodelay(true);
        self.poll
            .registry()
            .register(&mut socket, Token(slot), Interest::READABLE)
            .map_err(|error| format!("register: {error}"))?;
        self.connections[slot] = Some(Connection {
            socket,
            tls: ServerConnection::new(self.config.clone()).map_err(|error| error.to_string())?,
            since: Instant::now(),
            finished: false,
            writes: false,
        });
        locked(&self.counts).open += 1;
        Ok(())
    }

    fn advance(&mut self, slot: usize) -> Result<(), String> {
        let Some(connection) = self.connections[slot].as_mut() else {
            return Ok(());
        };
        match connection.advance(&self.counts) {
            Next::End(reason) => self.close(slot, reason),
            Next::Stay => {
                let writes = connection.tls.wants_write();
                if writes != connection.writes {
                    connection.writes = writes;
                    let interest = if writes {
                        Interest::READABLE | Interest::WRITABLE
                    } else {
                        Interest::READABLE
                    };
                    self.poll
                        .registry()
                        .reregister(&mut connection.socket, Token(slot), interest)
                        .map_err(|error| format!("register: {error}"))?;
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, slot: usize, reason: Option<String>) {
        let mut counts = locked(&self.counts);
        if let Some(reason) = reason {
            counts.failed(reason);
        }
        counts.open -= 1;
        drop(counts);
        if let Some(connection) = self.connections[slot].take() {
            let _ = connection.socket.shutdown(Shutdown::Both);
        }
        self.free.push(slot);
    }

    fn sweep(&mut self) {
        for slot in 0..self.connections.len() {
            let late = self.connections[slot].as_ref().is_some_and(|connection| {
                !connection.finished && connection.since.elapsed() > HANDSHAKE_LIMIT
            });
            if late {
                self.close(slot, Some("no handshake in time".into()));
            }
        }
    }
}

// ---- the program

/// SIGTERM and SIGINT, kept from every thread until they are waited for.
fn ending_signals() -> libc::sigset_t {
    // SAFETY: the set is plain data that sigemptyset initializes before it is used.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGTERM);
        libc::sigaddset(&mut set, libc::SIGINT);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        set
    }
}

fn await_signal(set: &libc::sigset_t) {
    let mut signal = 0;
    // SAFETY: both pointers are to live data.
    unsafe { libc::sigwait(set, &mut signal) };
}

fn start(options: &Options, counts: &Arc<Mutex<Counts>>) -> Result<(), String> {
    let config = Arc::new(config(options)?);
    let at = |error: std::io::Error| format!("listen: {}: {error}", options.listen);
    let listener = std::net::TcpListener::bind(&options.listen).map_err(at)?;
    listener.set_nonblocking(true).map_err(at)?;
    // SAFETY: the descriptor is open. The standard library lets 128 wait.
    unsafe { libc::listen(listener.as_raw_fd(), BACKLOG) };
    for _ in 0..options.workers {
        let mut worker = Worker {
            poll: Poll::new().map_err(at)?,
            listener: TcpListener::from_std(listener.try_clone().map_err(at)?),
            config: config.clone(),
            counts: counts.clone(),
            connections: Vec::new(),
            free: Vec::new(),
        };
        worker
            .poll
            .registry()
            .register(&mut worker.listener, LISTENER, Interest::READABLE)
            .map_err(at)?;
        thread::spawn(move || {
            if let Err(error) = worker.run() {
                eprintln!("rustls server: {error}");
                std::process::exit(1);
            }
        });
    }
    println!(r#"{{"listening":"{}"}}"#, listener.local_addr().map_err(at)?);
    Ok(())
}

fn main() -> ExitCode {
    let signals = ending_signals();
    let counts = Arc::new(Mutex::new(Counts::default()));
    let started = parse_options(std::env::args()).and_then(|options| start(&options, &counts));
    if let Err(error) = started {
        eprintln!("rustls server: {error}");
        return ExitCode::FAILURE;
    }
    await_signal(&signals);
    let told = Instant::now();
    while locked(&counts).open > 0 && told.elapsed() < DRAIN_LIMIT {
        thread::sleep(Duration::from_millis(5));
    }
    println!("{}", locked(&counts).document());
    ExitCode::SUCCESS
}
