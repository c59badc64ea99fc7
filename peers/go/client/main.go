// Client makes verified TLS 1.3 connections with Go's crypto/tls, one after another, echoes a few
// bytes on each, and prints what each negotiated as JSON. It ends non-zero at the first connection
// that fails.
package main

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"peers/groups"
)

const connectionLimit = 10 * time.Second

type options struct {
	connect, ca, name, groups string
	count, echo               int
	resume                    bool
}

// connection is what one connection negotiated, in tlscost's words.
type connection struct {
	Version           string `json:"version"`
	Cipher            string `json:"cipher"`
	Group             string `json:"group"`
	HelloRetryRequest bool   `json:"hello_retry_request"`
	Resumed           bool   `json:"resumed"`
	Subject           string `json:"subject"`
	KeyType           string `json:"key_type"`
	Chain             int    `json:"chain"`
	Echoed            int    `json:"echoed"`
}

func parseOptions() options {
	var o options
	flag.StringVar(&o.connect, "connect", "", "`address` to connect to")
	flag.StringVar(&o.ca, "ca", "", "CA certificates to verify the server with, PEM `file`")
	flag.StringVar(&o.name, "name", "localhost", "server `name` to send and to verify")
	flag.StringVar(&o.groups, "groups", "", "colon-separated `list` of groups (default: Go's)")
	flag.IntVar(&o.count, "count", 1, "connections to make, one after another")
	flag.IntVar(&o.echo, "echo", 32, "`bytes` to send and to expect back on each; 0: none")
	flag.BoolVar(&o.resume, "resume", false, "resume sessions from the second connection on")
	flag.Parse()
	return o
}

func (o options) config() (*tls.Config, error) {
	pem, err := os.ReadFile(o.ca)
	if err != nil {
		return nil, fmt.Errorf("ca: '%s': %w; name a file with -ca", o.ca, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca: %s: no certificate in it", o.ca)
	}
	ids, err := groups.Parse(o.groups)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{
		RootCAs:          roots,
		ServerName:       o.name,
		MinVersion:       tls.VersionTLS13,
		CurvePreferences: ids,
	}
	if o.resume {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	}
	return config, nil
}

// echo sends random bytes and compares what comes back. Reading also takes in the tickets that
// the server sent before.
func echo(conn io.ReadWriter, count int) error {
	sent := make([]byte, count)
	rand.Read(sent)
	if _, err := conn.Write(sent); err != nil {
		return fmt.Errorf("echo: write: %w", err)
	}
	received := make([]byte, count)
	if _, err := io.ReadFull(conn, received); err != nil {
		return fmt.Errorf("echo: read: %w", err)
	}
	if !bytes.Equal(sent, received) {
		return fmt.Errorf("echo: other bytes came back than the %d sent", count)
	}
	return nil
}

func describe(state tls.ConnectionState, echoed int) connection {
	leaf := state.PeerCertificates[0]
	return connection{
		Version:           "TLSv" + strings.TrimPrefix(tls.VersionName(state.Version), "TLS "),
		Cipher:            tls.CipherSuiteName(state.CipherSuite),
		Group:             groups.Name(state.CurveID),
		HelloRetryRequest: state.HelloRetryRequest,
		Resumed:           state.DidResume,
		Subject:           leaf.Subject.CommonName,
		KeyType:           keyType(leaf),
		Chain:             len(state.PeerCertificates),
		Echoed:            echoed,
	}
}

func connect(o options, config *tls.Config) (connection, error) {
	dialer := &net.Dialer{Timeout: connectionLimit}
	conn, err := tls.DialWithDialer(dialer, "tcp", o.connect, config)
	if err != nil {
		return connection{}, fmt.Errorf("connect: %s: %w", o.connect, err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(connectionLimit))
	if o.echo > 0 {
		if err := echo(conn, o.echo); err != nil {
			return connection{}, err
		}
	}
	return describe(conn.ConnectionState(), o.echo), nil
}

func run(o options) error {
	config, err := o.config()
	if err != nil {
		return err
	}
	connections := []connection{}
	for range o.count {
		one, err := connect(o, config)
		if err != nil {
			return err
		}
		connections = append(connections, one)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"connections": connections})
}

func main() {
	if err := run(parseOptions()); err != nil {
		fmt.Fprintf(os.Stderr, "client: %v\n", err)
		os.Exit(1)
	}
}
