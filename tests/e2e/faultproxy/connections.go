package main

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// connectionSet knows the client connections that are open, so that all can be cut at once.
type connectionSet struct {
	mutex sync.Mutex
	open  map[net.Conn]struct{}
}

func (set *connectionSet) note(conn net.Conn, state http.ConnState) {
	set.mutex.Lock()
	defer set.mutex.Unlock()
	switch state {
	case http.StateNew:
		if set.open == nil {
			set.open = map[net.Conn]struct{}{}
		}
		set.open[conn] = struct{}{}
	case http.StateClosed, http.StateHijacked:
		delete(set.open, conn)
	}
}

func (set *connectionSet) closeAll() int {
	set.mutex.Lock()
	defer set.mutex.Unlock()
	for conn := range set.open {
		_ = conn.Close()
	}
	return len(set.open)
}

// freezeAll lets no more bytes out on the connections that are open. They are not closed.
func (set *connectionSet) freezeAll() int {
	set.mutex.Lock()
	defer set.mutex.Unlock()
	for conn := range set.open {
		if secure, ok := conn.(*tls.Conn); ok {
			secure.NetConn().(*freezableConn).frozen.Store(true)
		}
	}
	return len(set.open)
}

// freezableListener accepts connections that can be frozen.
type freezableListener struct{ net.Listener }

func (listener freezableListener) Accept() (net.Conn, error) {
	conn, err := listener.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &freezableConn{Conn: conn}, nil
}

// freezableConn is a connection on which, once frozen, everything that is written vanishes.
type freezableConn struct {
	net.Conn
	frozen atomic.Bool
}

func (conn *freezableConn) Write(bytes []byte) (int, error) {
	if conn.frozen.Load() {
		return len(bytes), nil
	}
	return conn.Conn.Write(bytes)
}
