// Server is a TLS 1.3 server over Go's crypto/tls that echoes application data. It prints the
// address it listens on, and at its end (SIGTERM or SIGINT) what it counted, both as JSON.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"peers/groups"
)

const (
	handshakeLimit = 10 * time.Second
	drainLimit     = time.Second
)

type options struct {
	listen, cert, key, groups, alpn string
	accept                          string
	tickets, listeners              uint
	handshakeTimeout                uint
}

func parseOptions() options {
	var o options
	flag.StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` to listen on; port 0 takes a free one")
	flag.StringVar(&o.cert, "cert", "", "certificate chain, PEM `file`")
	flag.StringVar(&o.key, "key", "", "private key, PEM `file`")
	flag.StringVar(&o.groups, "groups", "", "colon-separated `list` of groups (default: Go's)")
	flag.StringVar(&o.alpn, "alpn", "", "application `protocol` to agree on (default: none)")
	flag.UintVar(&o.tickets, "tickets", 1, "`number` of session tickets: 0, or more, which means Go's one")
	flag.StringVar(&o.accept, "accept", "shared", "`how` connections come in: shared (one socket), or reuseport (a socket each listener)")
	flag.UintVar(&o.listeners, "listeners", 1, "`number` of sockets with -accept reuseport")
	flag.UintVar(&o.handshakeTimeout, "handshake-timeout", 0, "`milliseconds` after which a handshake is ended (default 10 s)")
	flag.Parse()
	return o
}

func (o options) handshakeLimit() time.Duration {
	if o.handshakeTimeout == 0 {
		return handshakeLimit
	}
	return time.Duration(o.handshakeTimeout) * time.Millisecond
}

func (o options) config() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return nil, fmt.Errorf("certificate: '%s': %w; name its files with -cert and -key", o.cert, err)
	}
	ids, err := groups.Parse(o.groups)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{
		Certificates:           []tls.Certificate{pair},
		MinVersion:             tls.VersionTLS13,
		CurvePreferences:       ids,
		SessionTicketsDisabled: o.tickets == 0,
	}
	if o.alpn != "" {
		config.NextProtos = []string{o.alpn}
	}
	return config, nil
}

// converse makes the handshake and echoes until the peer ends the connection.
func converse(conn *tls.Conn, counts *counters, limit time.Duration) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(limit))
	if err := conn.Handshake(); err != nil {
		counts.failed(err)
		return
	}
	counts.completed(conn.ConnectionState())
	conn.SetDeadline(time.Time{})
	io.Copy(conn, conn) // how a client ends a connection is its own affair
}

func accept(listener net.Listener, config *tls.Config, counts *counters, limit time.Duration) error {
	for {
		raw, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		counts.open.Add(1)
		go func() {
			defer counts.open.Done()
			converse(tls.Server(raw, config), counts, limit)
		}()
	}
}

// open makes the listeners: one, or with reuseport several on one port, among which the kernel spreads
// connections.
func (o options) open() ([]net.Listener, error) {
	var config net.ListenConfig
	count := uint(1)
	switch o.accept {
	case "shared":
	case "reuseport":
		config.Control = reusePort
		count = max(o.listeners, 1)
	default:
		return nil, fmt.Errorf("-accept '%s': write shared or reuseport", o.accept)
	}
	listeners := make([]net.Listener, 0, count)
	address := o.listen
	for range count {
		listener, err := config.Listen(context.Background(), "tcp", address)
		if err != nil {
			return nil, err
		}
		address = listener.Addr().String() // port 0 is chosen once
		listeners = append(listeners, listener)
	}
	return listeners, nil
}

func reusePort(_, _ string, raw syscall.RawConn) error {
	const soReusePort = 15 // SO_REUSEPORT of Linux, which package syscall does not name
	var err error
	if failed := raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soReusePort, 1)
	}); failed != nil {
		return failed
	}
	return err
}

func serve(o options) error {
	if err := countAllocations(); err != nil {
		return err
	}
	config, err := o.config()
	if err != nil {
		return err
	}
	listeners, err := o.open()
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	out := json.NewEncoder(os.Stdout)
	out.Encode(map[string]string{"listening": listeners[0].Addr().String()})

	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	go func() {
		<-stop.Done()
		for _, listener := range listeners {
			listener.Close()
		}
	}()
	counts := newCounters()
	ended := make(chan error, len(listeners))
	for _, listener := range listeners {
		go func() { ended <- accept(listener, config, counts, o.handshakeLimit()) }()
	}
	for range listeners {
		err = errors.Join(err, <-ended)
		cancel() // without one of its sockets it is another server
	}
	counts.drain(drainLimit)
	out.Encode(counts.document())
	return err
}

func main() {
	if err := serve(parseOptions()); err != nil {
		fmt.Fprintf(os.Stderr, "server: %v\n", err)
		os.Exit(1)
	}
}
