// Command faultproxy stands between a client and a kube-apiserver and injects faults on demand.
//
// Both sides speak verified TLS, HTTP/1.1 or HTTP/2, and watches stream through unbuffered. Which requests
// suffer, and how, is decided by rules that are set over a plain control port on loopback (see control.go).
// Without rules it changes nothing: bearer tokens pass through, the client's certificates do not.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

type connectionKey struct{}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address clients connect to")
	control := flag.String("control", "127.0.0.1:0", "address of the control port (plain HTTP)")
	upstream := flag.String("upstream", "", "base URL of the API server")
	authority := flag.String("ca", "", "PEM file of the authority that signed the API server's certificate")
	certificate := flag.String("cert", "", "PEM file of this proxy's certificate")
	key := flag.String("key", "", "PEM file of the key to -cert")
	flag.Parse()

	if err := run(*listen, *control, *upstream, *authority, *certificate, *key); err != nil {
		fmt.Fprintln(os.Stderr, "faultproxy:", err)
		os.Exit(1)
	}
}

func run(listen, control, upstream, authority, certificate, key string) error {
	target, err := url.Parse(upstream)
	if err != nil || target.Host == "" {
		return fmt.Errorf("-upstream is not a URL: %q", upstream)
	}
	pem, err := os.ReadFile(authority)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return fmt.Errorf("no certificate in %s", authority)
	}

	proxy := newProxy(target, &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 64,
		DisableCompression:  true, // bytes pass through as the API server wrote them
	})
	quiet := log.New(io.Discard, "", 0) // broken connections are this program's trade
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	front := &http.Server{
		Handler:  proxy,
		ErrorLog: quiet,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, conn)
		},
		ConnState: proxy.connections.note,
	}
	back := &http.Server{Addr: control, Handler: controlHandler(proxy), ReadHeaderTimeout: 10 * time.Second}

	failed := make(chan error, 2)
	go func() { failed <- front.ServeTLS(freezableListener{listener}, certificate, key) }()
	go func() { failed <- back.ListenAndServe() }()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
