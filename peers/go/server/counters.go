package main

import (
	"crypto/tls"
	"sync"
	"time"

	"peers/groups"
)

// counters holds what the server counted over all connections.
type counters struct {
	open sync.WaitGroup

	mutex                              sync.Mutex
	handshakes, resumed, helloRetries  uint64
	negotiatedGroups, negotiatedSuites map[string]uint64
	failures                           map[string]uint64
}

func newCounters() *counters {
	return &counters{
		negotiatedGroups: map[string]uint64{},
		negotiatedSuites: map[string]uint64{},
		failures:         map[string]uint64{},
	}
}

func (c *counters) completed(state tls.ConnectionState) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.handshakes++
	if state.DidResume {
		c.resumed++
	}
	if state.HelloRetryRequest {
		c.helloRetries++
	}
	c.negotiatedGroups[groups.Name(state.CurveID)]++
	c.negotiatedSuites[tls.CipherSuiteName(state.CipherSuite)]++
}

func (c *counters) failed(err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.failures[err.Error()]++
}

// drain waits for the open connections, but not for longer than the limit.
func (c *counters) drain(limit time.Duration) {
	done := make(chan struct{})
	go func() {
		c.open.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

func (c *counters) document() map[string]any {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return map[string]any{
		"handshakes":           c.handshakes,
		"resumed":              c.resumed,
		"hello_retry_requests": c.helloRetries,
		"groups":               c.negotiatedGroups,
		"ciphers":              c.negotiatedSuites,
		"failed":               c.failures,
	}
}
